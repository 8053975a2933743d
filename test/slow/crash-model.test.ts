/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { luhnDigit } from "../../src/core/kernel/check-digits.ts";
import { esimctlJson } from "../support/cli.ts";
import { type Act, repeatAll, type Service, send, someAct } from "../support/client-writes.ts";
import { type Daemon, startDaemon, targetOf } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { answerCount, eventually } from "../support/hangs.ts";
import { launch } from "../support/process.ts";
import { seeded } from "../support/random.ts";
import { repeated } from "../support/rounds.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { freshUrl, onPostgres, temporaryDirectory } from "../support/store.ts";

/** ROUNDS makes a longer run, CRASH_SEED repeats one. */
const rounds = repeated(onPostgres ? 2 : 5);
const seed = Number(process.env.CRASH_SEED ?? 1);

const CLIENTS = 16;
/** The daemon is killed at one of so many responses, at any speed of the machine. */
const LATEST_KILL = 150;
/** More than the orders of so many rounds cost, and take of each product. */
const FUNDS_CENTS = rounds * 10_000_00;
const STOCK = 1_000 + rounds * 200;

async function writeUntilCut(service: Service, next: () => Act, answered: () => void): Promise<Act[]> {
  const acts: Act[] = [];
  for (;;) {
    const act = next();
    acts.push(act);
    const reply = await send(service, act).catch(() => null);
    if (reply === null) return acts;
    expect([200, 201], JSON.stringify(reply.body)).toContain(reply.status);
    act.answer = reply.body;
    answered();
  }
}

/** A terminal command beside the daemon, killed (-9) after a while in one run of three. */
async function writeAtTerminal(shop: Shop, act: Act, args: string[], random: () => number): Promise<Act> {
  const target = targetOf(shop.served);
  const command = launch([...args, ...target.args, "--json"], { env: target.env });
  if (random() < 1 / 3) {
    await Promise.race([pause(random() * 700), command.ended]);
    command.child.kill("SIGKILL");
  }
  const { exitCode, stdout, stderr } = await command.ended;
  if (exitCode === 0) return { ...act, answer: JSON.parse(stdout) };
  expect(exitCode, stdout + stderr).toBe(null);
  return act;
}

const ESIMS_PER_FILE = 25;

function terminalWriters(shop: Shop, round: number, random: () => number): Promise<Act>[] {
  const reference = `R-${round}`;
  const digits = Array.from(
    { length: ESIMS_PER_FILE },
    (_, at) => `8944201${String(round * 1000 + at).padStart(11, "0")}`,
  );
  const rows = digits.map((each) => `${each}${luhnDigit(each)},smdp.example.net,M-${each}`);
  const file = join(shop.data, "..", `stock-${round}.csv`);
  writeFileSync(file, ["iccid,smdp_address,matching_id", ...rows].join("\n"));
  const credit = ["wallet", "credit", "--partner", "acme", "--amount", "1.00", "--currency", "AUD"];
  return [
    writeAtTerminal(
      shop,
      { kind: "credit", name: reference, body: null, answer: null },
      [...credit, "--reference", reference],
      random,
    ),
    writeAtTerminal(
      shop,
      { kind: "stock", name: file, body: null, answer: null },
      ["stock", "import", file, "--sku", "EU5"],
      random,
    ),
  ];
}

/** Clients and terminals write at once; the daemon is killed at a response chosen by the seed. */
async function crash(shop: Shop, daemon: Daemon, token: string, round: number): Promise<Act[]> {
  const random = seeded(seed * 1_000_003 + round);
  const { answered, due } = answerCount(1 + Math.floor(random() * LATEST_KILL));
  const products = Object.values(shop.products);
  const clients = Array.from({ length: CLIENTS }, () =>
    writeUntilCut({ url: daemon.url, token }, () => someAct({ products }, round, random), answered),
  );
  const terminals = terminalWriters(shop, round, random);
  await due();
  await daemon.kill();
  return [...(await Promise.all(clients)).flat(), ...(await Promise.all(terminals))];
}

/** Looks at the database itself, in one snapshot, beside the daemon. */
function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (all) => {
    const one = async (sql: string) => Number(Object.values((await all(sql))[0] ?? {})[0]);
    return {
      unfulfilled: await all(
        "SELECT status, reason, count(*) AS orders FROM orders WHERE status <> 'fulfilled' GROUP BY 1, 2",
      ),
      orders: await one("SELECT count(*) FROM orders"),
      keys: await one("SELECT count(*) FROM idempotency_keys"),
      ordered: await one("SELECT coalesce(sum(total_cents), 0) FROM orders"),
      credits: await all<{ reference: string | null; times: number }>(
        "SELECT reference, count(*) AS times FROM ledger_transactions WHERE kind = 'credit' GROUP BY 1",
      ),
      stock: await one("SELECT count(*) FROM esims"),
      chargedWrong: await all(
        `SELECT id FROM orders WHERE total_cents IS DISTINCT FROM (SELECT sum(amount_cents) FROM ledger_transactions
         WHERE order_id = orders.id AND kind = 'charge')`,
      ),
      iccidsTwice: await all("SELECT iccid FROM esims GROUP BY iccid HAVING count(*) > 1"),
      openTwice: await all(
        "SELECT iccid FROM activations WHERE status <> 'cancelled' GROUP BY iccid HAVING count(*) > 1",
      ),
      eventsTwice: await all("SELECT subject_id FROM events GROUP BY subject_id, kind HAVING count(*) <> 1"),
    };
  });
}

/** Confirmed writes of terminals are stored once; unconfirmed ones once or not at all. */
function expectWritten(found: Awaited<ReturnType<typeof inspect>>, acts: Act[]): void {
  const times = new Map(found.credits.map(({ reference, times }) => [reference, times]));
  for (const { name, answer } of acts.filter(({ kind }) => kind === "credit")) {
    expect(answer === null ? [undefined, 1] : [1], `credit ${name}`).toContain(times.get(name));
  }
  const confirmed = acts.filter(({ kind, answer }) => kind === "stock" && answer !== null).length;
  const asked = acts.filter(({ kind }) => kind === "stock").length;
  expect(found.stock).toBeGreaterThanOrEqual(STOCK * 2 + confirmed * ESIMS_PER_FILE);
  expect(found.stock).toBeLessThanOrEqual(STOCK * 2 + asked * ESIMS_PER_FILE);
}

async function expectSound(shop: Shop, acts: Act[]): Promise<void> {
  const found = await inspect(shop);
  expect(found.keys).toBe(found.orders);
  expect(found).toMatchObject({ chargedWrong: [], iccidsTwice: [], openTwice: [], eventsTwice: [] });
  expectWritten(found, acts);
  const credited = found.credits.reduce((sum, { reference }) => sum + (reference === null ? 0 : 100), 0);
  const balance_cents = FUNDS_CENTS + credited - found.ordered;
  const { args, env } = targetOf(shop.served);
  expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({
    ok: true,
    unbalanced: [],
    wallets: [{ partner: "acme", currency: "AUD", balance_cents, ledger_cents: balance_cents }],
  });
  await esimctlJson(["doctor", ...args], { env });
}

test("kill -9 amid clients and terminals: confirmed writes are stored once, and add up", async () => {
  const stock = { EU5: STOCK, JP10: STOCK };
  const url = await freshUrl();
  const shop = await openShop({ folder: temporaryDirectory(), url, stock, priceCents: 250, fundsCents: FUNDS_CENTS });
  const { args, env } = targetOf(shop.served);
  await esimctlJson(["partners", "update", "acme", "--agent", ...args], { env });
  // The same public address throughout: a token outlives the process that issued it.
  const start = () => startDaemon({ ...shop.served, flags: ["--public-url", "http://esim.test"] });
  let daemon = await start();
  const all: Act[] = [];
  let cut = 0;
  for (let round = 1; round <= rounds; round++) {
    const token = await shopToken(shop, daemon.url);
    const acts = await crash(shop, daemon, token, round);
    cut += acts.filter(({ answer }) => answer === null).length;
    // On SQLite they expire by themselves below.
    if (url !== undefined) await endLeases(url);
    daemon = await start();
    await repeatAll({ url: daemon.url, token }, acts, CLIENTS);
    all.push(...acts);
    await expectSound(shop, all);
  }
  console.info(`seed ${seed}, ${rounds} rounds: ${all.length} writes, ${cut} of them cut off`);
  expect(cut).toBeGreaterThanOrEqual(rounds * CLIENTS);
  expect(all.length - cut).toBeGreaterThan(rounds);
  await eventually(
    () => inspect(shop),
    ({ unfulfilled }) => unfulfilled.length === 0,
  );
  await expectSound(shop, all);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
}, 3_600_000);
