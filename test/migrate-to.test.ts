import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../src/core/store/postgres/postgres.ts";
import type { Ended } from "./support/cli.ts";
import { startDaemon } from "./support/daemon.ts";
import { onDatabase } from "./support/database.ts";
import { demoData } from "./support/installation.ts";
import { freshPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const ORDER = ["orders", "create", "--product", "ES-GLB-1GB-7D", "--quantity", "2", "--partner", "demo"];

/** Demo data with an order in it, and an empty PostgreSQL database. */
async function installation() {
  const { data } = await demoData();
  const { url } = await freshPostgres();
  const keyFile = join(data, "esimctl.key");
  return {
    data,
    url,
    keyFile,
    here: ["--data", data],
    there: ["--database", url, "--key-file", keyFile],
    move: () => esimctl(["migrate-to", url, "--data", data, "--json"]),
  };
}

const failure = ({ stdout }: Ended): { message: string; hint: string } => JSON.parse(stdout).error;

/** What a place holds, as its operator sees it. */
function read(place: string[]) {
  return Promise.all([
    esimctlJson(["orders", "list", "--partner", "demo", ...place]),
    esimctlJson(["wallet", "ledger", "--partner", "demo", ...place]),
    esimctlJson(["passports", "queue", ...place]),
    esimctlJson(["stock", "list", ...place]),
  ]);
}

const VERSIONS = "SELECT id || ' ' || version AS version FROM orders ORDER BY id";

/** The ID and version of each order. */
async function versionsIn(place: { data: string } | { url: string }): Promise<unknown[]> {
  if ("data" in place) {
    const database = new Database(join(place.data, "esimctl.db"), { readonly: true });
    const rows = database.prepare(VERSIONS).all();
    database.close();
    return rows;
  }
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  const { rows } = await client.query(VERSIONS).finally(() => client.end());
  return rows;
}

describe("migrate-to", () => {
  test("copies everything to PostgreSQL, where work continues; the directory refuses further use", async () => {
    const { here, there, keyFile, move, data, url } = await installation();
    await esimctlJson([...ORDER, ...here, "--idempotency-key", "one"]);
    const before = await read(here);
    const versions = await versionsIn({ data });

    const moved = await move();
    expect(moved, moved.stdout + moved.stderr).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(moved.stdout)).toMatchObject({ key_file: keyFile, rows: expect.any(Number) });
    expect(await read(there)).toEqual(before);
    // The order has eSIMs, which raise its version when they are sold.
    expect(await versionsIn({ url })).toEqual(versions);
    expect(await esimctl(["doctor", ...there])).toMatchObject({ exitCode: 0 });
    // Rows chained there and rows chained here are one chain, and who moved them is in it.
    await esimctlJson(["partners", "suspend", "demo", "--yes", ...there]);
    await esimctlJson(["partners", "resume", "demo", ...there]);
    expect(await esimctlJson(["audit", "verify", ...there])).toMatchObject({ ok: true });
    const { data: trail } = (await esimctlJson(["audit", "list", ...there])) as { data: { action: string }[] };
    expect(trail.map(({ action }) => action)).toContain("data.migrate");
    // An order with a key that was used is a replay there too; a new one is charged.
    const balance = async () => JSON.stringify(await esimctlJson(["wallet", "balance", "--partner", "demo", ...there]));
    const kept = await balance();
    await esimctlJson([...ORDER, ...there, "--idempotency-key", "one"]);
    expect(await balance()).toBe(kept);
    await esimctlJson([...ORDER, ...there, "--idempotency-key", "two"]);
    expect(await balance()).not.toBe(kept);

    for (const args of [
      ["serve", ...here, "--port", "0"],
      ["partners", "list", ...here],
      ["migrate-to", ...here, "-"],
    ]) {
      const refused = await esimctl([...args, "--json"], { input: "postgres://tests@127.0.0.1/other" });
      expect(refused.exitCode).toBe(1);
      expect(failure(refused).message).toContain(`The data of ${data} moved to postgres://`);
    }
  });

  test("is refused while a daemon serves, and into a database in use: the directory stays in use", async () => {
    const { here, data, url, move } = await installation();
    const daemon = await startDaemon({ data });
    expect(failure(await move()).message).toContain("already runs");
    await daemon.stop("SIGTERM");

    expect((await move()).exitCode).toBe(0);
    const other = join(temporaryDirectory(), "data");
    await esimctlJson(["init", "--data", other]);
    const refused = await esimctl(["migrate-to", url, "--data", other, "--json"]);
    expect(failure(refused).message).toBe("That PostgreSQL database holds esimctl data already.");
    expect(await esimctl(["partners", "list", "--data", other])).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(other, "moved-to.txt"))).toBe(false);
    expect((await esimctl(["partners", "list", ...here])).exitCode).toBe(1);
  });

  test("what a trigger changes after its table was copied is noticed, and nothing is kept", async () => {
    const { here, url, move } = await installation();
    await esimctlJson([...ORDER, ...here]);
    await (await openPostgres({ url })).close();
    await onDatabase(
      { url },
      `CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN UPDATE orders SET version = version + 1 WHERE id = NEW.order_id; RETURN NULL; END $$;
       CREATE TRIGGER again AFTER INSERT ON order_lines FOR EACH ROW EXECUTE FUNCTION again()`,
    );
    expect(failure(await move()).message).toBe("The copy of orders differs from the original.");
    expect(await versionsIn({ url })).toEqual([]);
    expect(await esimctl(["partners", "list", ...here])).toMatchObject({ exitCode: 0 });
  });

  test("a fault while copying leaves nothing behind; the same command then succeeds", async () => {
    const { data, url, move, here } = await installation();
    const original = new Database(join(data, "esimctl.db"));
    onTestFinished(() => void original.close());
    // What SQLite holds and PostgreSQL does not take.
    original.exec("INSERT INTO settings (key, value) VALUES ('stray', 'a' || char(0) || 'b')");
    const cut = await move();
    expect(cut.exitCode).toBe(1);
    expect(failure(cut).message).toContain("0x00");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query("SELECT count(*) AS many FROM partners");
    await client.end();
    expect(rows).toEqual([{ many: "0" }]);
    expect(await esimctl(["partners", "list", ...here])).toMatchObject({ exitCode: 0 });

    original.exec("DELETE FROM settings WHERE key = 'stray'");
    expect((await move()).exitCode).toBe(0);
  });
});

/** Demo data that moved to PostgreSQL, with an order there. */
async function moved() {
  const made = await installation();
  expect((await made.move()).exitCode).toBe(0);
  await esimctlJson([...ORDER, ...made.there, "--idempotency-key", "there"]);
  const back = (directory: string) => esimctl(["migrate-to", directory, ...made.there, "--json"]);
  return { ...made, back };
}

describe("migrate-to a directory", () => {
  test("brings everything back, also into the directory that was left; the database refuses further use", async () => {
    const { there, here, back, data, keyFile, url } = await moved();
    const before = await read(there);
    const versions = await versionsIn({ url });

    const result = await back(data);
    expect(result, result.stdout + result.stderr).toMatchObject({ exitCode: 0 });
    const { replaced, key_file } = JSON.parse(result.stdout);
    expect(key_file).toBe(keyFile);
    expect(existsSync(join(replaced, "esimctl.db"))).toBe(true);
    expect(await read(here)).toEqual(before);
    expect(await versionsIn({ data })).toEqual(versions);
    expect(await esimctl(["doctor", ...here])).toMatchObject({ exitCode: 0 });
    expect(await esimctlJson(["audit", "verify", ...here])).toMatchObject({ ok: true });
    await esimctlJson([...ORDER, ...here, "--idempotency-key", "back"]);
    const daemon = await startDaemon({ data });
    await daemon.stop("SIGTERM");

    const kept = ["--key-file", join(data, "esimctl.key")];
    for (const args of [
      ["partners", "list", ...there],
      ["serve", ...there, "--port", "0"],
      ["migrate-to", join(temporaryDirectory(), "other"), ...there.slice(0, 2), ...kept],
    ]) {
      const refused = await esimctl([...args, "--json"]);
      expect(refused.exitCode, args.join(" ")).toBe(1);
      expect(failure(refused)).toMatchObject({ message: `The data of this database moved to ${data}.` });
    }
  });

  test("a directory in use, or with other files, is refused, and so is a database that is served", async () => {
    const { there, url, keyFile, back } = await moved();
    const other = join(temporaryDirectory(), "data");
    await esimctlJson(["init", "--data", other]);
    expect(failure(await back(other)).message).toBe(`${other} holds esimctl data already.`);
    const foreign = temporaryDirectory();
    writeFileSync(join(foreign, "notes.txt"), "mine");
    expect(failure(await back(foreign)).message).toBe(`${foreign} holds something else than esimctl data.`);
    expect(readdirSync(foreign)).toEqual(["notes.txt"]);

    const daemon = await startDaemon({ database: url, keyFile });
    const fresh = join(temporaryDirectory(), "new", "data");
    expect(failure(await back(fresh)).message).toBe(`The database is served by ${daemon.url}.`);
    await daemon.stop("SIGTERM");
    expect(existsSync(dirname(fresh))).toBe(false);
    expect(await esimctl(["partners", "list", ...there])).toMatchObject({ exitCode: 0 });
    expect((await back(fresh)).exitCode).toBe(0);
    expect(await esimctl(["partners", "list", "--data", fresh])).toMatchObject({ exitCode: 0 });
  });

  test("a node that wakes after the move takes no work", async () => {
    const { url, keyFile, back } = await moved();
    const daemon = await startDaemon({ database: url, keyFile });
    // As one that was suspended for longer than its last sign of life counts.
    process.kill(daemon.pid, "SIGSTOP");
    await onDatabase({ url }, "DELETE FROM settings WHERE key LIKE 'serving:%'");
    const fresh = join(temporaryDirectory(), "data");
    const result = await back(fresh);
    process.kill(daemon.pid, "SIGCONT");
    expect(result, result.stdout + result.stderr).toMatchObject({ exitCode: 0 });
    const response = await fetch(`${daemon.url}/api/v1/products`, { headers: { authorization: "Bearer x" } });
    expect(response.status).toBe(503);
    await daemon.stop("SIGTERM");
  });

  test("a fault while copying leaves nothing behind; the same command then succeeds", async () => {
    const { there, url, back } = await moved();
    // What PostgreSQL holds by then and SQLite does not take.
    await onDatabase({ url }, "ALTER TABLE products ALTER COLUMN name DROP NOT NULL");
    await onDatabase({ url }, "UPDATE products SET name = NULL WHERE sku = 'ES-GLB-1GB-7D'");
    const fresh = join(temporaryDirectory(), "data");
    const cut = await back(fresh);
    expect(cut.exitCode).toBe(1);
    expect(existsSync(fresh)).toBe(false);
    expect(failure(cut).message).toContain("products.name");
    expect(await esimctl(["partners", "list", ...there])).toMatchObject({ exitCode: 0 });

    await onDatabase({ url }, "UPDATE products SET name = 'World' WHERE name IS NULL");
    expect((await back(fresh)).exitCode).toBe(0);
  });
});
