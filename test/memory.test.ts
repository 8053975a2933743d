import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sql } from "drizzle-orm";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { prepareDataDirectory } from "../src/core/platform/data-directory.ts";
import { openStore } from "../src/core/store/open/open.ts";
import type { Read, Tx } from "../src/core/store/store.ts";
import { startDaemon } from "./support/daemon.ts";
import { checkout } from "./support/process.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";

/** The files that the built program may load, from its entries on. */
function builtFiles(): string[] {
  const dist = join(checkout, "dist");
  const files = new Set<string>();
  const add = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const imported = readFileSync(file, "utf8").matchAll(/(?:from|import|import\() ?"(\.{1,2}\/[^"]+\.js)"/g);
    for (const [, path = ""] of imported) add(join(dirname(file), path));
  };
  for (const name of readdirSync(dist)) if (name.endsWith(".js")) add(join(dist, name));
  return [...files];
}

test("no file of the built program has a character for which Node keeps two bytes of each", () => {
  const files = builtFiles();
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /[^\0-\x7f]/.test(readFileSync(file, "utf8")))).toEqual([]);
});

function freshFile() {
  return { file: join(temporaryDirectory(), "esimctl.db"), masterKey: randomBytes(32) };
}

const flagsOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");

test.runIf(process.platform === "linux")(
  "serve has bounds of its heap and of glibc's pools",
  { tags: ["slow"] },
  async () => {
    const data = join(temporaryDirectory(), "data");
    const place = onPostgres
      ? { database: (await freshPostgres()).url, keyFile: prepareDataDirectory(data, randomIds()).keyFile }
      : { data };
    const { pid, stop } = await startDaemon(place);
    expect(flagsOf(pid)).toEqual(expect.arrayContaining(["--max-semi-space-size=16", "--heap-growing-percent=50"]));
    expect(readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")).toContain("MALLOC_ARENA_MAX=2");
    await stop();
  },
);

describe.runIf(!onPostgres)("serve on a data directory", () => {
  test("keeps 8 MB of pages where it writes, and 4 MB where it reads", async () => {
    const { file, masterKey } = freshFile();
    const dependencies = { clock: systemClock, ids: randomIds(), masterKey };
    const store = await openStore({ file, create: true, watched: true }, dependencies);
    onTestFinished(() => store.close());
    const pages = async ({ db }: Read) => db.all(sql`PRAGMA cache_size`);
    expect(await store.write(async (tx: Tx) => pages(tx), null)).toEqual([{ cache_size: -8_000 }]);
    expect(await store.read(pages, null)).toEqual([{ cache_size: -4_000 }]);
  });
});
