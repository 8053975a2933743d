import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Encrypter } from "age-encryption";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Ended } from "./support/cli.ts";
import { startDaemon } from "./support/daemon.ts";
import { eventually } from "./support/hangs.ts";
import { launch } from "./support/process.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { visitor } from "./support/visitor.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const ORDER = ["orders", "create", "--product", "EU5", "--quantity", "1", "--partner", "acme"];

/** A data directory with an order, a folder to keep backups in, and a place to restore to. */
async function installation() {
  const folder = temporaryDirectory();
  const { data } = await openShop({ folder, stock: { EU5: 3 }, priceCents: 100, fundsCents: 1000 });
  await esimctlJson([...ORDER, "--data", data]);
  const file = join(folder, "one.backup");
  return {
    folder,
    data,
    file,
    key: join(data, "esimctl.key"),
    restored: join(folder, "restored"),
    backup: (...args: string[]) => esimctlJson(["backup", file, "--data", data, ...args]),
    ordersAt: async (place: string) => {
      const listed = await esimctlJson(["orders", "list", "--partner", "acme", "--data", place]);
      return (listed as { data: unknown[] }).data.length;
    },
  };
}

function failure({ stdout }: Ended): { code: string; message: string; hint: string } {
  return JSON.parse(stdout).error;
}

/** Writes nonsense over a page of the products. */
function damage(file: string): void {
  const database = new Database(file, { readonly: true });
  const page = Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'products'").pluck().get());
  database.close();
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096);
  closeSync(handle);
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("backup, verify-backup, restore", () => {
  test("restoring ends all sessions of people: a cookie from before signs no one in", { tags: ["slow"] }, async () => {
    const { data, file, restored, backup } = await installation();
    const invited = await esimctlJson([
      "users",
      "invite",
      "o@acme.example",
      "--partner",
      "acme",
      "--role",
      "owner",
      "--data",
      data,
    ]);
    const { link } = invited as { link: string };
    const daemon = await startDaemon({ data });
    const owner = visitor(daemon.url);
    const form = await owner.get(new URL(link).pathname);
    expect((await owner.send(form, { name: "Olga", password: "violet otter runs 42" })).path).toBe("/portal");
    await backup();
    await daemon.stop();
    await esimctlJson(["restore", file, "--data", restored]);
    const other = visitor((await startDaemon({ data: restored })).url);
    for (const [name, value] of owner.cookies) other.cookies.set(name, value);
    expect((await other.get("/portal")).path).toBe("/portal/sign-in");
  });

  test("move all data to a new place, from a directory that is being served", { tags: ["slow"] }, async () => {
    const { data, file, key, restored, backup, ordersAt } = await installation();
    await startDaemon({ data });
    const before = await ordersAt(data);
    expect(await backup()).toMatchObject({ file, bytes: expect.any(Number), holds_key: true });
    expect(modeOf(file)).toBe(0o600);
    await esimctlJson([...ORDER, "--data", data]);

    const verified = await esimctlJson(["verify-backup", file]);
    expect(verified).toMatchObject({ ok: true, holds_key: true, counts: { partners: 1, orders: before, esims: 3 } });

    await esimctlJson(["restore", file, "--data", restored]);
    expect(await ordersAt(restored)).toBe(before);
    expect(readFileSync(join(restored, "esimctl.key"), "utf8")).toBe(readFileSync(key, "utf8"));
    expect(["", "esimctl.db", "esimctl.key"].map((name) => modeOf(join(restored, name)))).toEqual([
      0o700, 0o600, 0o600,
    ]);
    expect(readFileSync(join(restored, "esimctl.db")).includes("esimctl-key-v1")).toBe(false);
    expect(await esimctlJson(["doctor", "--data", restored])).toMatchObject({ ok: true });
  });

  test("warn that the file holds the key, and never replace a file", async () => {
    const { data, file, folder } = await installation();
    const made = await esimctl(["backup", file, "--data", data]);
    expect(made.stdout).toMatch(/It holds the key file: anyone who has this file can read all identity data/);
    const bytes = readFileSync(file);
    const again = await esimctl(["backup", file, "--data", data, "--json"]);
    expect([again.exitCode, failure(again).message]).toEqual([1, `${file} is there already.`]);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  test("a backup without its key requires the key kept outside", async () => {
    const { folder, file, key, restored, backup, ordersAt } = await installation();
    const kept = join(folder, "kept.key");
    copyFileSync(key, kept);
    expect(await backup("--without-key")).toMatchObject({ holds_key: false });
    expect(readFileSync(file).includes("esimctl-key-v1")).toBe(false);
    expect(await esimctlJson(["verify-backup", file])).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([expect.objectContaining({ check: "data_keys", level: "warning" })]),
    });
    const bare = await esimctl(["restore", file, "--data", restored, "--json"]);
    expect([bare.exitCode, failure(bare).hint]).toEqual([1, expect.stringContaining("--key-file")]);

    const wrong = join(folder, "wrong.key");
    writeFileSync(wrong, `esimctl-key-v1:${"B".repeat(43)}\n`);
    const refused = await esimctl(["restore", file, "--data", restored, "--key-file", wrong, "--json"]);
    expect([refused.exitCode, failure(refused).message]).toEqual([1, expect.stringMatching(/does not belong/)]);
    expect(existsSync(restored)).toBe(false);
    expect((await esimctl(["verify-backup", file, "--key-file", wrong])).exitCode).toBe(1);

    await esimctlJson(["restore", file, "--data", restored, "--key-file", kept]);
    expect(await ordersAt(restored)).toBe(1);
  });
});

describe("restore over data", () => {
  test("requires --force, a confirmation and that no daemon serves, and keeps the old data", {
    tags: ["slow"],
  }, async () => {
    const { folder, data, file, backup, ordersAt } = await installation();
    await backup();
    await esimctlJson([...ORDER, "--data", data]);
    const plain = await esimctl(["restore", file, "--data", data, "--json"]);
    expect([plain.exitCode, failure(plain)]).toMatchObject([1, { code: "holds_data" }]);
    const forced = await esimctl(["restore", file, "--data", data, "--force", "--json"]);
    expect([forced.exitCode, failure(forced)]).toMatchObject([2, { code: "confirmation_needed" }]);
    expect(await ordersAt(data)).toBe(2);

    const { replaced } = (await esimctlJson(["restore", file, "--data", data, "--force", "--yes"])) as {
      replaced: string;
    };
    expect(await ordersAt(data)).toBe(1);
    expect(await ordersAt(replaced)).toBe(2);
    // It can be served again.
    await startDaemon({ data });
    const busy = await esimctl(["restore", file, "--data", data, "--force", "--yes", "--json"]);
    expect([busy.exitCode, failure(busy).message]).toEqual([1, expect.stringMatching(/already runs/)]);
    expect(await ordersAt(data)).toBe(1);
    // Into a directory of another program.
    const other = await esimctl(["restore", file, "--data", folder, "--json"]);
    expect([other.exitCode, failure(other).message]).toEqual([1, expect.stringMatching(/something else/)]);
  });
});

describe("an invalid file", () => {
  test("is reported by verify-backup and refused by restore", async () => {
    const { file, restored, backup } = await installation();
    await backup();
    damage(file);
    const verified = await esimctl(["verify-backup", file, "--json"]);
    expect([verified.exitCode, JSON.parse(verified.stdout)]).toMatchObject([1, { ok: false }]);
    const refused = await esimctl(["restore", file, "--data", restored, "--json"]);
    expect([refused.exitCode, failure(refused).message]).toEqual([1, expect.stringMatching(/damaged/)]);
    expect(existsSync(restored)).toBe(false);
  });

  test("a changed value is found with the key; a backup without a checksum requires a flag", async () => {
    const { folder, file, key, restored, backup } = await installation();
    const change = (statement: string) => {
      const database = new Database(file);
      database.exec(statement);
      database.close();
    };
    const checksum = async (...args: string[]) => {
      const { exitCode, stdout } = await esimctl(["verify-backup", file, ...args, "--json"]);
      const findings: { check: string; level: string }[] = JSON.parse(stdout).findings;
      return [exitCode, findings.find(({ check }) => check === "checksum")?.level];
    };
    await backup("--without-key");
    expect(await checksum()).toEqual([0, "warning"]);
    expect(await checksum("--key-file", key)).toEqual([0, "ok"]);
    // One character of a sealed value, as a flipped bit leaves it.
    change("UPDATE signing_keys SET private_sealed = replace(private_sealed, substr(private_sealed, -9), 'AAAAAAAAA')");
    expect(await checksum("--key-file", key)).toEqual([1, "fault"]);
    const args = ["--data", restored, "--key-file", key, "--json"];
    const refused = await esimctl(["restore", file, ...args]);
    expect([refused.exitCode, failure(refused).message]).toEqual([1, "Its content was changed after it was made."]);
    expect(existsSync(restored)).toBe(false);
    // Removing the checksum hides nothing. Backups of earlier versions stay usable with a flag.
    change("DELETE FROM esimctl_backup WHERE name = 'checksum'");
    expect(await checksum("--key-file", key)).toEqual([1, "fault"]);
    const bare = await esimctl(["restore", file, ...args]);
    expect([bare.exitCode, failure(bare)]).toMatchObject([
      1,
      { message: expect.stringMatching(/It has no checksum/), hint: expect.stringContaining("--without-checksum") },
    ]);
    expect(existsSync(restored)).toBe(false);
    expect(await checksum("--key-file", key, "--without-checksum")).toEqual([0, "warning"]);
    await esimctlJson(["restore", file, "--data", join(folder, "old"), "--key-file", key, "--without-checksum"]);
  });

  test("a database that is no backup, a text, and an empty file", async () => {
    const { folder, data, restored } = await installation();
    const text = join(folder, "notes.txt");
    writeFileSync(text, "not a backup");
    for (const [file, words] of [
      [join(data, "esimctl.db"), /is not an esimctl backup/],
      [text, /not a database/],
      [join(folder, "none.backup"), /Cannot open/],
    ] as const) {
      for (const args of [
        ["verify-backup", file],
        ["restore", file, "--data", restored],
      ]) {
        const refused = await esimctl([...args, "--json"]);
        expect([refused.exitCode, failure(refused).message]).toEqual([1, expect.stringMatching(words)]);
      }
    }
  });

  test("a damaged database is not kept", async () => {
    const { data, file, folder } = await installation();
    damage(join(data, "esimctl.db"));
    const refused = await esimctl(["backup", file, "--data", data, "--json"]);
    expect([refused.exitCode, failure(refused).message]).toEqual([1, expect.stringMatching(/damaged/)]);
    expect(readdirSync(folder)).toEqual(["data"]);
  });
});

describe("backup --seal", () => {
  const PASSPHRASE = "correct horse battery staple";
  const input = `${PASSPHRASE}\n`;

  /** The same content sealed by age itself, with so little work per attempt that tests need not wait. */
  async function sealedByAge(file: string, into: string): Promise<Uint8Array> {
    const encrypter = new Encrypter();
    encrypter.setPassphrase(PASSPHRASE);
    encrypter.setScryptWorkFactor(10);
    const bytes = await encrypter.encrypt(readFileSync(file));
    writeFileSync(into, bytes);
    return bytes;
  }

  test("makes a file that only the passphrase opens; killed amid the work, none", { tags: ["slow"] }, async () => {
    const { folder, data, file, restored, ordersAt } = await installation();
    const plain = join(data, ".sealing.partial");
    const killed = launch(["backup", file, "--seal", "--data", data], { input });
    await eventually(
      () => existsSync(plain),
      (there) => there,
    );
    await killed.end("SIGKILL");
    expect(existsSync(file)).toBe(false);
    expect(modeOf(plain)).toBe(0o600);

    const sealed = await esimctl(["backup", file, "--seal", "--data", data], { input });
    expect(sealed.stdout).toMatch(/It holds the key file: anyone who has this file and its passphrase/);
    expect(modeOf(file)).toBe(0o600);
    const bytes = readFileSync(file);
    expect(bytes.toString("latin1", 0, 60)).toMatch(/^age-encryption\.org\/v1\n-> scrypt .{22} 18/);
    for (const clear of ["SQLite format", "esimctl-key-v1", "acme"]) expect(bytes.includes(clear)).toBe(false);
    expect(existsSync(plain)).toBe(false);
    expect(readdirSync(folder)).toEqual(["data", "one.backup"]);
    await esimctlJson(["restore", file, "--data", restored], { input });
    expect(await ordersAt(restored)).toBe(1);
    expect(modeOf(join(restored, "esimctl.db"))).toBe(0o600);
  });

  test("a sealed file is verified and restored with its passphrase, and with no other one", async () => {
    const { folder, file, restored, backup } = await installation();
    await backup();
    const bytes = await sealedByAge(file, join(folder, "sealed"));
    const temporary = temporaryDirectory();
    const env = { TMPDIR: temporary };
    const run = (line: string, given: string) =>
      esimctl([...line.split(" "), "--data", restored, "--json"], { input: given, env, cwd: folder });
    expect(JSON.parse((await run("verify-backup sealed", input)).stdout)).toMatchObject({
      ...{ ok: true, file: "sealed", holds_key: true, sealed: true, counts: { orders: 1 } },
    });
    for (const command of ["verify-backup", "restore"]) {
      const unasked = await run(`${command} sealed`, "");
      expect([unasked.exitCode, failure(unasked).message]).toEqual([2, "A passphrase is needed here."]);
      const wrong = await run(`${command} sealed`, "another passphrase\n");
      expect([wrong.exitCode, failure(wrong).message]).toEqual([1, "The passphrase does not open sealed."]);
      // A byte that was changed, and an end that is missing.
      const altered = Buffer.from(bytes);
      altered[bytes.length - 100] = (altered[bytes.length - 100] ?? 0) ^ 1;
      for (const content of [altered, bytes.subarray(0, 70_000)]) {
        writeFileSync(join(folder, "damaged"), content);
        const damaged = await run(`${command} damaged`, input);
        expect([damaged.exitCode, failure(damaged).message]).toEqual([1, expect.stringMatching(/damaged is damaged/)]);
      }
    }
    expect(existsSync(restored)).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
    expect((await run("restore sealed", input)).exitCode).toBe(0);
  });

  test("asks for a passphrase, or ends with 2 and no file", async () => {
    const { folder, data, file } = await installation();
    for (const [given, words] of [
      ["", /A passphrase is needed/],
      ["short\n", /at least 12 characters/],
    ] as const) {
      const refused = await esimctl(["backup", file, "--seal", "--data", data, "--json"], { input: given });
      expect([refused.exitCode, failure(refused).message]).toEqual([2, expect.stringMatching(words)]);
    }
    expect(readdirSync(folder)).toEqual(["data"]);
  });
});

test("PostgreSQL is backed up by its own tools", async () => {
  const key = join(temporaryDirectory(), "k");
  const refused = await esimctl([
    "backup",
    "x",
    "--database",
    "postgres://u@127.0.0.1:1/x",
    "--key-file",
    key,
    "--json",
  ]);
  expect([refused.exitCode, failure(refused).hint]).toEqual([1, expect.stringMatching(/pg_dump/)]);
});
