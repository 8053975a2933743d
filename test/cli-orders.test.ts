import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { esimctl, esimctlJson, serving } from "./support/cli.ts";
import { temporaryDirectory } from "./support/store.ts";

// Each step is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const STOCK = join(import.meta.dirname, "..", "fixtures", "stock");

/** A demo installation, which has a catalog, stock and the partner `demo`. */
async function demo() {
  const data = join(temporaryDirectory(), "data");
  await esimctlJson(["init", "--demo", "--data", data]);
  const args = (line: string) => [...line.split(" "), "--data", data];
  return {
    data,
    run: (line: string) => esimctl(args(line)),
    json: async (line: string) => Object(await esimctlJson(args(line))),
  };
}

/** Asks again until `wanted` holds. */
async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 40; tries++) {
    const answer = await ask();
    if (wanted(answer)) return answer;
  }
  throw new Error("it did not come about");
}

test("an order from creation to its QR code, in the sandbox and in production", async () => {
  const { data, run, json } = await demo();
  const daemon = await serving(data);
  for (const [where, first] of [
    ["--sandbox", "pending_payment"],
    ["", "paid"],
  ] as const) {
    const acting = `--partner demo ${where}`.trim();
    const order = `orders create ${acting} --product ES-EU-5GB-30D --quantity 2 --idempotency-key k-1`;
    const created = await json(order);
    expect(created).toMatchObject({ status: first, quantity: 2, product_sku: "ES-EU-5GB-30D" });
    const shown = () => json(`orders show ${created.id} ${acting}`);
    expect((await until(shown, ({ status }) => status === "fulfilled")).line_items).toHaveLength(1);
    expect(await json(order)).toMatchObject({ id: created.id, status: "fulfilled" });
    expect(await json(`orders list ${acting}`)).toMatchObject({ data: [{ id: created.id }], pagination: { count: 1 } });
    const { esims, count } = await json(`orders esims ${created.id} ${acting}`);
    expect(count).toBe(2);
    expect(esims[0].qr_code_url.startsWith(`${daemon.url}/qr/`)).toBe(true);
    const drawn = await run(`orders esims ${created.id} ${acting} --qr`);
    expect(drawn.stdout).toContain(esims[1].activation_code);
    expect(drawn.stdout.match(/[█▀▄ ]{25,}/g)?.length).toBeGreaterThan(4);
  }
  expect(await daemon.stop()).toBe(0);
});

test("an order that its stock cannot fill waits for the operator", async () => {
  const { data, run, json } = await demo();
  await serving(data);
  const place = async () => {
    const { id } = await json("orders create --partner demo --product ES-GLB-3GB-15D --quantity 60");
    const shown = () => json(`orders show ${id} --partner demo`);
    const { order_number } = await until(shown, ({ status }) => status === "waiting_review");
    return { id, number: order_number, shown };
  };
  const held = await place();
  const short = await run(`orders approve ${held.number} --yes`);
  expect(short).toMatchObject({ exitCode: 1, stdout: "" });
  expect(short.stderr).toMatch(/still short: ES-GLB-3GB-15D needs 60, has 0/);

  const refill = await run(`stock import ${join(STOCK, "ES-GLB-1GB-7D.csv")} --sku ES-GLB-3GB-15D --json`);
  expect(JSON.parse(refill.stdout)).toMatchObject({ duplicates: 60 });
  expect((await run(`orders reject ${held.number} --reason none`)).exitCode).toBe(2);

  const before = await json("wallet balance --partner demo");
  const rejected = await json(`orders reject ${held.number} --reason gone --yes`);
  expect(rejected).toMatchObject({ id: held.id, status: "failed", reason: "gone" });
  const after = await json("wallet balance --partner demo");
  expect(after.balances[0].balance_cents - before.balances[0].balance_cents).toBe(rejected.total_price_cents);
  expect((await run(`orders approve ${held.id} --yes`)).exitCode).toBe(1);
  expect((await json("wallet check")).ok).toBe(true);
});

test("who may act where", async () => {
  const { run, json } = await demo();
  await json("partners create newcomer --name Newcomer");
  const refused = await run("orders list --partner newcomer");
  expect(refused).toMatchObject({ exitCode: 4, stdout: "" });
  expect(refused.stderr).toMatch(/no production access.*\n.*--sandbox/);
  expect(await json("orders list --partner newcomer --sandbox")).toMatchObject({ data: [] });
  const nobody = await run("orders list");
  expect(nobody.exitCode).toBe(2);
  expect(nobody.stderr).toMatch(/--partner/);
  expect((await run("orders list --partner ghost")).exitCode).toBe(1);
  const broke = "orders create --partner newcomer --product ES-EU-5GB-30D --quantity 1";
  await json("partners update newcomer --production");
  const unpaid = await run(`${broke} --json`);
  expect(unpaid.exitCode).toBe(1);
  expect(JSON.parse(unpaid.stdout).error).toMatchObject({
    code: "insufficient_balance",
    hint: expect.stringMatching(/[Tt]op up/),
  });
});
