import { chmodSync, closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Finding } from "../src/core/maintenance/finding.ts";
import { spaceFinding } from "../src/core/maintenance/machine-checks.ts";
import { startDaemon } from "./support/daemon.ts";
import { databaseChecks } from "./support/doctor.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const CHECKS = [...databaseChecks, "directory", "disk_space"];

/** A stocked data directory, and what doctor finds in it. */
async function installation() {
  const { data } = await openShop({ folder: temporaryDirectory(), stock: { EU5: 3 }, priceCents: 1, fundsCents: 900 });
  const file = join(data, "esimctl.db");
  return {
    data,
    file,
    key: join(data, "esimctl.key"),
    /** Changes the database by hand. */
    tamper(statement: string) {
      const connection = new Database(file);
      connection.exec(statement);
      connection.close();
    },
    async doctor() {
      const { exitCode, stdout } = await esimctl(["doctor", "--data", data, "--json"]);
      const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout);
      // Free space of this machine's disk does not count here.
      const wrong = findings.filter(({ check, level }) => level !== "ok" && check !== "disk_space");
      return { exitCode, ok, findings, wrong };
    },
  };
}

/** The trigger as the program makes it. */
function guardOf(table: string, verb: string, words = "evidence is only added to"): string {
  return (
    `CREATE TRIGGER ${table}_no_${verb} BEFORE ${verb.toUpperCase()} ON ${table} ` +
    `BEGIN SELECT RAISE(ABORT, '${words}'); END`
  );
}

describe("a sound installation", () => {
  test("passes every check, and nothing in it is changed", async () => {
    const { data, file, doctor } = await installation();
    const before = statSync(file);
    const found = await doctor();
    expect(found).toMatchObject({ exitCode: 0, ok: true, wrong: [] });
    expect(found.findings.map(({ check }) => check)).toEqual(CHECKS);
    expect(statSync(file).mtimeMs).toBe(before.mtimeMs);
    const people = await esimctl(["doctor", "--data", data]);
    expect(people.stdout).toMatch(/^ok {7}The ledger agrees with the balances of 1 wallet\.$/m);
  });

  test("passes them while it is served", async () => {
    const { data, doctor } = await installation();
    await startDaemon({ data });
    expect(await doctor()).toMatchObject({ exitCode: 0, ok: true });
  });
});

describe("a fault names its remedy", () => {
  const byHand: [check: string, statement: string, words: RegExp][] = [
    ["schema", "DROP INDEX orders_due", /index orders_due is missing/],
    ["sealed_values", "UPDATE signing_keys SET private_sealed = 'v2.x.y'", /1 sealed value .* signing_keys\.private/],
    ["schema", "DROP TRIGGER ledger_postings_no_update", /trigger ledger_postings_no_update is missing/],
    ["schema", "ALTER TABLE orders ADD COLUMN color text", /table orders differs/],
    ["stock", "UPDATE stock_pools SET available = 4", /EU5 counts 4, there are 3/],
    ["ledger", "UPDATE wallets SET balance_cents = 901", /balances of acme AUD/],
    [
      "clock",
      "INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data)\
      SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'order.created', id, 'production', 'x',\
      unixepoch() * 1000 + 7200000, '{}' FROM partners",
      /7\d\d\d s later/,
    ],
    [
      "evidence",
      `DROP TRIGGER audit_entries_no_update; UPDATE audit_entries SET note = 'x' WHERE action = 'wallet.credit';
        ${guardOf("audit_entries", "update")}`,
      /audit:.*row .* is not as it was written/,
    ],
    [
      "balances",
      `DROP TRIGGER ledger_transactions_no_update; UPDATE ledger_transactions SET balance_after_cents = 901;
        ${guardOf("ledger_transactions", "update", "the ledger only grows")}`,
      /not the sum of their chain: [0-9a-f-]{36}\./,
    ],
    ["integrity", "INSERT INTO stock_pools VALUES ('nothing', 1)", /1 row of stock_pools that name a row of products/],
  ];

  test.each(byHand)("%s: %s", async (check, statement, words) => {
    const { tamper, doctor } = await installation();
    tamper(`PRAGMA foreign_keys = OFF; ${statement}`);
    const { exitCode, wrong } = await doctor();
    expect(exitCode).toBe(1);
    expect(wrong).toMatchObject([{ check, level: "fault", message: expect.stringMatching(words) }]);
    expect(wrong[0]?.remedy).toMatch(/\w/);
  });

  test("overwritten pages", async () => {
    const { file, doctor } = await installation();
    const handle = openSync(file, "r+");
    writeSync(handle, Buffer.alloc(8192, 0x5a), 0, 8192, 8192);
    closeSync(handle);
    const { exitCode, wrong } = await doctor();
    expect([exitCode, wrong[0]?.check, wrong[0]?.level]).toEqual([1, "integrity", "fault"]);
    expect(wrong[0]?.message).toMatch(/damaged/);
  });

  test("orders that do not agree with the ledger: total, refunds, owner, and what a credential has spent", async () => {
    const { data, tamper, doctor } = await installation();
    const line = ["orders", "create", "--product", "EU5", "--quantity", "2", "--partner", "acme", "--data", data];
    expect(await esimctl(line)).toMatchObject({ exitCode: 0 });
    expect((await doctor()).wrong).toEqual([]);
    for (const column of ["total_cents", "refunded_cents"]) {
      tamper(`UPDATE orders SET ${column} = ${column} + 1`);
      const message = expect.stringMatching(/total, refunds or owner of ORD-/);
      expect((await doctor()).wrong, column).toMatchObject([{ check: "orders", level: "fault", message }]);
      tamper(`UPDATE orders SET ${column} = ${column} - 1`);
    }
    // As if a credential with a cap had placed it, whose spending was set back.
    tamper(`INSERT INTO credentials (client_id, partner_id, environment, secret_hash, scopes, created_at)
      SELECT 'sk_live_x', partner_id, 'production', 'x', '[]', 0 FROM orders;
      UPDATE orders SET created_by = 'client:sk_live_x';
      INSERT INTO credential_spending (client_id, environment, currency, day, spent_cents)
      SELECT 'sk_live_x', 'production', currency, date(created_at / 1000, 'unixepoch'), 1 FROM orders`);
    const message = expect.stringContaining("less counted than charged for sk_live_x AUD");
    expect((await doctor()).wrong).toMatchObject([{ check: "orders", level: "fault", message }]);
  });

  test("a key file that others may read, of another database, or missing", async () => {
    const { key, doctor } = await installation();
    chmodSync(key, 0o644);
    expect((await doctor()).wrong).toMatchObject([{ check: "key_file", level: "fault", remedy: `chmod 600 ${key}` }]);
    writeFileSync(key, `esimctl-key-v1:${"A".repeat(43)}\n`);
    chmodSync(key, 0o600);
    expect((await doctor()).wrong).toMatchObject([{ check: "data_keys", message: /does not belong/ }].map(worded));
    rmSync(key);
    const checks = (await doctor()).wrong.map(({ check }) => check);
    expect(checks).toEqual(["key_file"]);
  });
});

test("leftover files, and work without a worker, are warnings and no faults", async () => {
  const { data, tamper, doctor } = await installation();
  const old = Date.now() - 3_600_000;
  const url = "https://93.184.215.14/hooks";
  await esimctl(["webhooks", "create", url, "--events", "order.created", "--partner", "acme", "--data", data]);
  tamper(`CREATE TABLE notes (words text);
    UPDATE webhook_endpoints SET due_at = ${old};
    INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data)
      SELECT 'event', 'order.created', id, 'production', 'x', 0, '{}' FROM partners;
    INSERT INTO deliveries
      SELECT 'one', 'event', id, 'pending', 0, ${old}, ${old}, ${old}, 0, null FROM webhook_endpoints`);
  const { exitCode, ok, wrong } = await doctor();
  expect([exitCode, ok]).toEqual([0, true]);
  expect(wrong).toMatchObject(
    [
      { check: "schema", level: "warning", message: /table notes/ },
      { check: "stuck_work", level: "warning", message: /1 webhook delivery has been due since/ },
    ].map(worded),
  );
});

test("missing data is an error of its own; data of a server is checked at the server", async () => {
  const nothing = await esimctl(["doctor", "--data", join(temporaryDirectory(), "none"), "--json"]);
  expect([nothing.exitCode, JSON.parse(nothing.stdout).error.code]).toEqual([1, "not_initialised"]);
  const remote = await esimctl(["doctor", "--server", "https://esim.example.com", "--json"]);
  expect([remote.exitCode, JSON.parse(remote.stdout).error.code]).toEqual([2, "operator_only"]);
});

test("free disk space is checked by what is left", () => {
  const GIB = 1024 ** 3;
  expect(spaceFinding(100 * GIB, 500 * GIB).level).toBe("ok");
  expect(spaceFinding(10 * GIB, 500 * GIB).level).toBe("warning");
  expect(spaceFinding(GIB, 10 * GIB).level).toBe("warning");
  expect(spaceFinding(GIB / 8, 10 * GIB).level).toBe("fault");
});

/** A finding whose message is to match a pattern. */
function worded({ message, ...rest }: { check: string; level?: string; message: RegExp }) {
  return { ...rest, message: expect.stringMatching(message) };
}
