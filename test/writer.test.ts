import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { invalid, Problem } from "../src/core/kernel/problem.ts";
import { Secret } from "../src/core/kernel/secret.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { writeHeartbeat } from "../src/core/platform/heartbeat.ts";
import { adoptSettings, readSetting, type SettingKey } from "../src/core/platform/settings.ts";
import { openBeside, openStore } from "../src/core/store/open/open.ts";
import { StoreError } from "../src/core/store/problems.ts";
import type { Store } from "../src/core/store/store.ts";
import { noteErasure } from "../src/core/store/stored-value.ts";
import { decode, encode } from "../src/daemon/writer/codec.ts";
import { commands } from "../src/daemon/writer/commands.ts";
import { arrivedError, sentError } from "../src/daemon/writer/sent-errors.ts";
import { startWriter } from "../src/daemon/writer/start-writer.ts";
import { readTexts } from "./support/sources.ts";
import { onPostgres, temporaryDirectory } from "./support/store.ts";

const NO_KEYS = { file: null, given: [] };
const ids = randomIds();

const fileOf = (folder: string) => join(folder, "esimctl.db");
const freshWork = () => ({
  file: fileOf(temporaryDirectory()),
  masterKey: randomBytes(32),
  keys: NO_KEYS,
  verify: true,
});

/** A store whose writes another thread makes, on a fresh database. */
async function openThreaded(work = freshWork()): Promise<Store & { work: typeof work }> {
  const writer = await startWriter({ ...work, create: true });
  const store = await openBeside(work.file, writer.connect, { clock: systemClock, ids, masterKey: work.masterKey });
  onTestFinished(() => store.close());
  return { ...store, work };
}

/** The locks of this process on a file. */
function locksOn(file: string): string[] {
  const { ino } = statSync(file);
  const lines = readFileSync("/proc/locks", "utf8").split("\n");
  const own = lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
  // The number before them changes with the locks of other processes.
  return own.map((line) => line.replace(/^\d+: /, ""));
}

const settings = (public_url: string): Record<SettingKey, string | null> => ({
  public_url,
  docs_url: `${public_url}/docs`,
  allow_private_webhooks: "no",
  strict_eid: "no",
  insecure: "no",
  cleartext: "no",
  inventory_sunset: null,
  sandbox_days: "90",
});

const adopt = (store: Store, url: string) => store.write(adoptSettings, { values: settings(url), takeOver: false });

describe.runIf(!onPostgres)("writes in a thread of their own", () => {
  test("are there once answered, as those of other processes are, and fail as without a thread", {
    tags: ["slow"],
  }, async () => {
    const store = await openThreaded();
    await adopt(store, "http://esim.test");
    expect(await store.read(readSetting, "public_url")).toBe("http://esim.test");
    await expect(adopt(store, "http://other.test")).rejects.toMatchObject({
      code: "settings_differ",
      message: expect.stringContaining('public_url is "http://esim.test" and here "http://other.test"'),
      hint: expect.stringContaining("--take-over-settings"),
    });
    const values = settings("http://other.test");
    expect(await store.rehearse(adoptSettings, { values, takeOver: true })).toHaveLength(2);
    expect(await store.read(readSetting, "public_url")).toBe("http://esim.test");
    const unknown = store.write(async () => null, null);
    await expect(unknown).rejects.toThrow("is missing among the commands of the writer");

    const { file, masterKey } = store.work;
    const other = await openStore({ file, create: false }, { clock: systemClock, ids, masterKey });
    expect(await other.read(readSetting, "public_url")).toBe("http://esim.test");
    const epoch = await store.epoch();
    await other.write(createPartner, { slug: "p", name: "P", actor: "operator" });
    await other.close();
    expect(await store.epoch()).toBeGreaterThan(epoch);
  });

  test("are refused once the store is closed, and what was asked before is answered", { tags: ["slow"] }, async () => {
    const store = await openThreaded();
    const asked = adopt(store, "http://esim.test");
    const closed = store.close();
    const outcome = await asked.then(
      () => "written",
      ({ reason }) => reason,
    );
    await closed;
    expect(["written", "closed"]).toContain(outcome);
    await expect(store.write(writeHeartbeat, null)).rejects.toMatchObject({ code: "unavailable", reason: "closed" });
    const { file, masterKey } = store.work;
    const again = await openStore({ file, create: false }, { clock: systemClock, ids, masterKey });
    const kept = await again.read(readSetting, "public_url");
    expect(kept).toBe(outcome === "written" ? "http://esim.test" : null);
    await again.close();
  });

  test.runIf(existsSync("/proc/locks"))(
    "end without giving up the locks of other connections of the process",
    async () => {
      const { file, masterKey, ...work } = freshWork();
      const writer = await startWriter({ file, masterKey, ...work, create: true });
      const store = await openBeside(file, writer.connect, { clock: systemClock, ids, masterKey });
      onTestFinished(() => store.close());
      const other = await openStore({ file, create: false }, { clock: systemClock, ids, masterKey });
      await other.write(noteErasure, null);
      await other.close();
      expect(await store.erase()).toBe(true);
      // The thread looks each second whether there is anything to erase, and has a lock more for that moment.
      await expect.poll(() => locksOn(file)).toHaveLength(1);
      const before = locksOn(file);
      await writer.close();
      expect(locksOn(file)).toEqual(before);
    },
  );

  test("do not start on a database that is damaged, or of another key", { tags: ["slow"] }, async () => {
    const work = freshWork();
    await (await openStore({ file: work.file, create: true }, { clock: systemClock, ids, ...work })).close();
    const stranger = { ...work, masterKey: randomBytes(32), create: false };
    await expect(startWriter(stranger)).rejects.toMatchObject({ name: "StoreError", wrongKey: true });
    const damaged = join(temporaryDirectory(), "esimctl.db");
    copyFileSync(work.file, damaged);
    writeFileSync(damaged, randomBytes(4096), { flag: "r+" });
    const start = startWriter({ ...work, file: damaged, create: false });
    await expect(start).rejects.toBeInstanceOf(StoreError);
  });
});

test("every command that the daemon writes with is among those of the writer", () => {
  const texts = new Map(Object.entries(readTexts()));
  const named = [...texts]
    .filter(
      ([path]) =>
        (path.startsWith("src/daemon/") && !path.startsWith("src/daemon/writer/")) ||
        path === "src/cli/serve/serving.ts",
    )
    .flatMap(([, text]) => [...text.matchAll(/\b(?:store|deps)\.(?:write|rehearse)\(\s*(\w+)/g)])
    .map(([, name]) => String(name));
  expect(named.length).toBeGreaterThan(60);
  const ofPages = commandsOfPages(texts);
  expect(ofPages.length).toBeGreaterThan(60);
  expect([...named, ...ofPages].filter((name) => !Object.hasOwn(commands, name))).toEqual([]);
  expect(new Set(Object.values(commands)).size).toBe(Object.keys(commands).length);
});

/** What pages import of core and can only write with: functions of a transaction. `texts`: of the sources, by path. */
function commandsOfPages(texts: ReadonlyMap<string, string>): string[] {
  return [...texts]
    .filter(([path]) => path.startsWith("src/web/"))
    .flatMap(([path, page]) =>
      [...page.matchAll(/import \{([^}]*)\} from "([^"]*core\/[^"]*)";/g)].flatMap(([, names = "", from = ""]) => {
        const text = texts.get(join(dirname(path), from)) ?? "";
        const isCommand = (name: string) => new RegExp(`export (async )?function ${name}\\(\\s*tx: Tx`).test(text);
        return names
          .split(",")
          .map((name) => name.trim())
          .filter(isCommand);
      }),
    );
}

describe("what is sent to another thread", () => {
  const send = (value: unknown) => decode(structuredClone(encode(value)));

  test("arrives as it was, whatever plain data it is", () => {
    const plain = fc.anything({ withBigInt: true, withDate: true, withMap: false, withSet: false, maxDepth: 4 });
    fc.assert(
      fc.property(plain, (value) => {
        expect(send(value)).toEqual(value);
      }),
    );
  });

  test("may hold secrets and bytes, at any depth", () => {
    const arrived = send({
      list: [{ secret: new Secret("s3cret") }],
      bytes: Buffer.from("abc"),
      map: new Map([["a", 1]]),
    });
    const { list, bytes, map } = arrived as { list: { secret: Secret }[]; bytes: Buffer; map: Map<string, number> };
    expect(list[0]?.secret).toBeInstanceOf(Secret);
    expect(list[0]?.secret.reveal()).toBe("s3cret");
    expect(bytes.toString("utf8")).toBe("abc");
    expect(map.get("a")).toBe(1);
  });

  test("leaves what the sender holds as it is", () => {
    const secret = new Secret("s3cret");
    const held = { secret, rows: [{ a: 1 }] };
    send(held);
    expect(held).toEqual({ secret, rows: [{ a: 1 }] });
  });

  test("is refused where its class would be lost", () => {
    class Own {}
    for (const value of [new Own(), { deep: [new Own()] }, () => null, { run: () => null }]) {
      expect(() => encode(value)).toThrow("stays in its thread");
    }
  });

  test("errors keep their class, words, cause, and what programs read of them", () => {
    const problem = invalid({ "line_items.0.quantity": ["must be at least 1"] }, { limit: 1 });
    const store = new StoreError("Full.", "Make room.", new Error("disk"), { reason: "full" });
    const [first, second] = [problem, store].map((error) => arrivedError(structuredClone(sentError(error))));
    expect(first).toBeInstanceOf(Problem);
    expect(first).toMatchObject({ status: 400, slug: "validation", errors: problem.errors, members: { limit: 1 } });
    expect(first?.message).toBe(problem.message);
    expect(first?.stack).toBe(problem.stack);
    expect(second).toBeInstanceOf(StoreError);
    expect(second).toMatchObject({ reason: "full", code: "unavailable", hint: "Make room.", name: "StoreError" });
    expect(second?.cause).toMatchObject({ message: "disk" });
    expect(Object.keys(second ?? {})).not.toContain("stack");
  });
});
