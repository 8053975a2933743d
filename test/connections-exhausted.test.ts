import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Daemon, startDaemon, targetOf } from "./support/daemon.ts";
import { onDatabase } from "./support/database.ts";
import { HANG_MS } from "./support/hangs.ts";
import { openShop, type Shop } from "./support/shop.ts";
import { callerOf } from "./support/shop-caller.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const unavailable = {
  status: 503,
  body: { type: expect.stringMatching(/\/docs\/errors\/unavailable$/), title: "Service Unavailable", status: 503 },
};

async function shopOnPostgres(): Promise<{ shop: Shop; url: string }> {
  const { url } = await freshPostgres();
  const goods = { stock: { EU5: 5 }, priceCents: 5, fundsCents: 1_000 };
  return { shop: await openShop({ folder: temporaryDirectory(), url, ...goods }), url };
}

/** A command of the operator on the shop's database. */
function operator(shop: Shop, line: string, place = shop.served) {
  const { args, env } = targetOf(place);
  return esimctl([...line.split(" "), "--json", ...args], { env });
}

async function readyz({ url }: Daemon) {
  const response = await fetch(`${url}/readyz`);
  return [response.status, Object(await response.json()).reason];
}

/** The reason and the advice in the log's line of an outage. */
async function logged(daemon: Daemon) {
  const { reason, hint } = JSON.parse(await daemon.printed("store_unavailable"));
  return { reason, hint };
}

describe.runIf(onPostgres)("connections to PostgreSQL that are exhausted", () => {
  test("are a 503 after 10 s where all of a node are in use; the terminal still gets in", {
    tags: ["slow"],
  }, async () => {
    const { shop, url } = await shopOnPostgres();
    expect(await operator(shop, "partners update acme --agent")).toMatchObject({ exitCode: 0 });
    // So that the connections stay in use for as long as it takes.
    const database = `${url}?lock_timeout=${HANG_MS}&statement_timeout=${HANG_MS}`;
    const daemon = await startDaemon({ ...shop.served, database, flags: ["--database-connections", "4"] });
    const { get, order } = await callerOf(shop, daemon.url);
    // Reads of this table wait, each on a connection of the node, which has two for requests.
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    onTestFinished(() => session.end());
    // Else the job that reads this table would wait, too, and let no one write meanwhile.
    await vi.waitFor(async () => {
      const { rowCount } = await session.query("SELECT FROM cron_runs WHERE job = 'passport_notices'");
      expect(rowCount).toBe(1);
    }, HANG_MS);
    await session.query("BEGIN");
    await session.query("LOCK TABLE passports IN ACCESS EXCLUSIVE MODE");
    const waiting = Array.from({ length: 2 }, () => get("/api/v1/kyc/passports"));
    await vi.waitFor(async () => {
      const { rowCount } = await session.query(
        "SELECT FROM pg_locks WHERE relation = 'passports'::regclass AND NOT granted",
      );
      expect(rowCount).toBe(2);
    }, HANG_MS);
    const refused = Promise.all([get("/api/v1/orders"), get("/api/v1/balance"), order("one"), order("two")]);
    expect(await readyz(daemon)).toEqual([503, "store"]);

    const listed = await operator(shop, "partners list");
    expect([listed.exitCode, JSON.parse(listed.stdout).count]).toEqual([0, 1]);
    const credited = await operator(shop, "wallet credit --partner acme --amount 1.00 --currency AUD");
    expect(credited, credited.stdout).toMatchObject({ exitCode: 0 });
    for (const reply of await refused) {
      expect(reply).toMatchObject(unavailable);
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await logged(daemon)).toEqual({
      reason: "exhausted",
      hint: expect.stringContaining("serve --database-connections"),
    });

    await session.query("ROLLBACK");
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    await vi.waitFor(async () => expect(await readyz(daemon)).toEqual([200, undefined]), HANG_MS);
    for (const key of ["one", "two"]) expect((await order(key)).status).toBe(201);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
  });

  test("are a 503 at once where the server has none left, and the terminal names the setting", async () => {
    const { shop, url } = await shopOnPostgres();
    const role = await limitedRole(url);
    const served = { ...shop.served, database: role.url };
    const daemon = await startDaemon(served);
    const { get, order } = await callerOf(shop, daemon.url);
    await role.limit(0);
    const refused = await Promise.all([get("/api/v1/orders"), order("one")]);
    for (const reply of refused) expect(reply).toMatchObject(unavailable);
    expect(await readyz(daemon)).toEqual([503, "store"]);
    const listed = await operator(shop, "partners list", served);
    expect(listed.exitCode).toBe(1);
    expect(JSON.parse(listed.stdout).error).toMatchObject({
      code: "unavailable",
      message: "The PostgreSQL server has no connection left.",
    });
    const doctor = await operator(shop, "doctor", served);
    expect(doctor.exitCode).toBe(1);
    expect(doctor.stdout).toContain("The PostgreSQL server has no connection left.");
    // Another role has connections of its own.
    expect(await operator(shop, "partners list")).toMatchObject({ exitCode: 0 });
    await role.limit(-1);
    await vi.waitFor(async () => expect((await order("one")).status).toBe(201), HANG_MS);
    await vi.waitFor(async () => expect(await readyz(daemon)).toEqual([200, undefined]), HANG_MS);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
  });
});

/** The same database for a role with a limit of connections; those it has are ended where it is changed. */
async function limitedRole(url: string) {
  const name = `limited_${randomBytes(6).toString("hex")}`;
  const run = (statements: string) => onDatabase({ url }, statements);
  await run(`CREATE ROLE ${name} LOGIN;
    GRANT ALL ON SCHEMA public TO ${name};
    GRANT ALL ON ALL TABLES IN SCHEMA public TO ${name};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${name}`);
  onTestFinished(() => run(`DROP OWNED BY ${name}; DROP ROLE ${name}`));
  const address = new URL(url);
  address.username = name;
  return {
    url: address.toString(),
    limit: (connections: number) =>
      run(`ALTER ROLE ${name} CONNECTION LIMIT ${connections};
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`),
  };
}
