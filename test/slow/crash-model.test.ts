/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { luhnDigit } from "../../src/core/kernel/check-digits.ts";
import { dataDirectory } from "../../src/core/store/data-directory.ts";
import { request } from "../support/activations.ts";
import { esimctlJson } from "../support/cli.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { eventually, orHang } from "../support/hangs.ts";
import { passport } from "../support/passports.ts";
import { call, type Reply } from "../support/platform.ts";
import { launch } from "../support/process.ts";
import { seeded } from "../support/random.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";

/** CRASH_ROUNDS and CRASH_SEED make a longer run, or repeat one. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 20);
const seed = Number(process.env.CRASH_SEED ?? 1);

const CLIENTS = 16;
/** The daemon is killed at one of so many responses, at any speed of the machine. */
const LATEST_KILL = 150;
/** More than the orders of so many rounds cost, and take of each product. */
const FUNDS_CENTS = rounds * 10_000_00;
const STOCK = 1_000 + rounds * 200;

/** A write as its client sees it: the response, or null when the connection or the process ended before. */
interface Act {
  kind: "order" | "bulk" | "activation" | "passport" | "credit" | "stock";
  /** What identifies it: a key, an external id, an ICCID, a document number, a reference, a file. */
  name: string;
  body: unknown;
  answer: Reply["body"] | null;
}

interface Service {
  url: string;
  token: string;
}

function post({ url, token }: Service, path: string, body: unknown, headers: Record<string, string> = {}) {
  return call(`${url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Sends a client's write, the first time or again. */
function send(service: Service, { kind, name, body }: Act): Promise<Reply> {
  switch (kind) {
    case "order":
      return post(service, "/orders", body, { "idempotency-key": name });
    case "bulk":
      return post(service, "/orders/bulk", body);
    case "activation":
      return post(service, "/activations", body);
    default:
      return post(service, "/kyc/passports", body);
  }
}

/** The next write of a client: mostly orders, of one or two lines. */
function someAct(products: string[], round: number, random: () => number): Act {
  const name = `${round}-${Math.floor(random() * 2 ** 40)}`;
  const line_items = products
    .slice(0, 1 + Math.floor(random() * products.length))
    .map((product_id) => ({ product_id, quantity: 1 + Math.floor(random() * 3) }));
  const chosen = random();
  if (chosen < 0.6) return { kind: "order", name, body: { line_items }, answer: null };
  if (chosen < 0.75) {
    const customer = { email: "mia@example.com", name: "Mia Chen" };
    return { kind: "bulk", name, body: { orders: [{ external_order_id: name, line_items, customer }] }, answer: null };
  }
  if (chosen < 0.9) {
    // The seeds of two rounds may give the same number.
    const digits = `${String(round).padStart(4, "0")}${String(Math.floor(random() * 1e9)).padStart(9, "0")}`;
    const iccid = `896103${digits}`;
    const dates = { activation_date: inDays(40), passport_expiry: inDays(900) };
    return { kind: "activation", name: iccid, body: request({ iccid, ...dates }), answer: null };
  }
  const record = passport({ passport_no: `P${round}X${Math.floor(random() * 1e9)}`, passport_expiry: inDays(900) });
  return { kind: "passport", name: record.passport_no, body: { records: [record] }, answer: null };
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

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
  const command = launch([...args, "--data", shop.data, "--json"]);
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
  let left = 1 + Math.floor(random() * LATEST_KILL);
  const { promise: due, resolve } = Promise.withResolvers<void>();
  const answered = () => {
    left -= 1;
    if (left === 0) resolve();
  };
  const products = Object.values(shop.products);
  const clients = Array.from({ length: CLIENTS }, () =>
    writeUntilCut({ url: daemon.url, token }, () => someAct(products, round, random), answered),
  );
  const terminals = terminalWriters(shop, round, random);
  await orHang(due, () => `${left} responses are missing`);
  await daemon.kill();
  return [...(await Promise.all(clients)).flat(), ...(await Promise.all(terminals))];
}

/** Sends a client's write again: it is stored once, as it was answered. */
async function expectOnce(service: Service, act: Act): Promise<void> {
  const { status, body } = await send(service, act);
  const where = `${act.kind} ${act.name}: ${JSON.stringify(body)}`;
  const { answer } = act;
  if (act.kind === "order") {
    expect(answer === null ? [200, 201] : [200], where).toContain(status);
    if (answer !== null) expect(body, where).toMatchObject({ id: answer.id, order_number: answer.order_number });
  } else if (act.kind === "bulk") {
    const [result] = body.results;
    expect(result, where).toMatchObject({ status: "success" });
    if (answer !== null) {
      expect(result, where).toMatchObject({ replayed: true, service_order_id: answer.results[0].service_order_id });
    }
  } else if (act.kind === "activation") {
    expect(answer === null ? [201, 409] : [409], where).toContain(status);
  } else {
    expect(body.imported + body.skipped_duplicates, where).toBe(1);
    if (answer !== null) expect(body, where).toMatchObject({ imported: 0, skipped_duplicates: 1 });
  }
}

async function repeatAll(service: Service, acts: Act[]): Promise<void> {
  const waiting = acts.filter(({ kind }) => kind !== "credit" && kind !== "stock");
  const repeat = async () => {
    for (let act = waiting.pop(); act !== undefined; act = waiting.pop()) await expectOnce(service, act);
  };
  await Promise.all(Array.from({ length: CLIENTS }, repeat));
}

/** Looks at the database itself, in one snapshot, beside the daemon. */
function inspect(shop: Shop) {
  const database = new Database(dataDirectory(shop.data).databaseFile, { readonly: true });
  const all = (sql: string) => database.prepare(sql).all();
  const one = (sql: string) => Number(database.prepare(sql).pluck().get());
  try {
    database.exec("BEGIN");
    return {
      unfulfilled: all(
        "SELECT status, reason, count(*) AS orders FROM orders WHERE status <> 'fulfilled' GROUP BY 1, 2",
      ),
      orders: one("SELECT count(*) FROM orders"),
      keys: one("SELECT count(*) FROM idempotency_keys"),
      ordered: one("SELECT coalesce(sum(total_cents), 0) FROM orders"),
      credits: all("SELECT reference, count(*) AS times FROM ledger_transactions WHERE kind = 'credit' GROUP BY 1"),
      stock: one("SELECT count(*) FROM esims"),
      chargedWrong: all(
        `SELECT id FROM orders WHERE total_cents IS NOT (SELECT sum(amount_cents) FROM ledger_transactions
         WHERE order_id = orders.id AND kind = 'charge')`,
      ),
      iccidsTwice: all("SELECT iccid FROM esims GROUP BY iccid HAVING count(*) > 1"),
      openTwice: all("SELECT iccid FROM activations WHERE status <> 'cancelled' GROUP BY iccid HAVING count(*) > 1"),
      eventsTwice: all("SELECT subject_id FROM events GROUP BY subject_id, kind HAVING count(*) <> 1"),
    };
  } finally {
    database.close();
  }
}

/** Confirmed writes of terminals are stored once; unconfirmed ones once or not at all. */
function expectWritten(found: ReturnType<typeof inspect>, acts: Act[]): void {
  const times = new Map(found.credits.map((row) => [Object(row).reference, Object(row).times]));
  for (const { name, answer } of acts.filter(({ kind }) => kind === "credit")) {
    expect(answer === null ? [undefined, 1] : [1], `credit ${name}`).toContain(times.get(name));
  }
  const confirmed = acts.filter(({ kind, answer }) => kind === "stock" && answer !== null).length;
  const asked = acts.filter(({ kind }) => kind === "stock").length;
  expect(found.stock).toBeGreaterThanOrEqual(STOCK * 2 + confirmed * ESIMS_PER_FILE);
  expect(found.stock).toBeLessThanOrEqual(STOCK * 2 + asked * ESIMS_PER_FILE);
}

async function expectSound(shop: Shop, acts: Act[]): Promise<void> {
  const found = inspect(shop);
  expect(found.keys).toBe(found.orders);
  expect(found).toMatchObject({ chargedWrong: [], iccidsTwice: [], openTwice: [], eventsTwice: [] });
  expectWritten(found, acts);
  const credited = found.credits.reduce((sum: number, row) => sum + (Object(row).reference === null ? 0 : 100), 0);
  const balance_cents = FUNDS_CENTS + credited - found.ordered;
  expect(await esimctlJson(["wallet", "check", "--data", shop.data])).toMatchObject({
    ok: true,
    unbalanced: [],
    wallets: [{ partner: "acme", currency: "AUD", balance_cents, ledger_cents: balance_cents }],
  });
  await esimctlJson(["doctor", "--data", shop.data]);
}

test("kill -9 amid clients and terminals: confirmed writes are stored once, and add up", async () => {
  const stock = { EU5: STOCK, JP10: STOCK };
  const shop = await openShop({ folder: temporaryDirectory(), stock, priceCents: 250, fundsCents: FUNDS_CENTS });
  await esimctlJson(["partners", "update", "acme", "--agent", "--data", shop.data]);
  // The same public address throughout: a token outlives the process that issued it.
  const start = () => startDaemon({ data: shop.data, flags: ["--public-url", "http://esim.test"] });
  let daemon = await start();
  const all: Act[] = [];
  let cut = 0;
  for (let round = 1; round <= rounds; round++) {
    const token = await shopToken(shop, daemon.url);
    const acts = await crash(shop, daemon, token, round);
    cut += acts.filter(({ answer }) => answer === null).length;
    daemon = await start();
    await repeatAll({ url: daemon.url, token }, acts);
    all.push(...acts);
    await expectSound(shop, all);
  }
  console.info(`seed ${seed}, ${rounds} rounds: ${all.length} writes, ${cut} of them cut off`);
  expect(cut).toBeGreaterThanOrEqual(rounds * CLIENTS);
  expect(all.length - cut).toBeGreaterThan(rounds);
  await eventually(
    () => inspect(shop).unfulfilled,
    (orders) => orders.length === 0,
  );
  await expectSound(shop, all);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
}, 3_600_000);
