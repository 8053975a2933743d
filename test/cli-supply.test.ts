import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { demoData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** A demo installation and a folder for files. */
async function demo() {
  const folder = temporaryDirectory();
  const { data } = await demoData(folder);
  const at = [`--data=${data}`];
  return {
    folder,
    data,
    run: (...args: string[]) => esimctl([...args, ...at]),
    json: async (...args: string[]) => Object(await esimctlJson([...args, ...at])),
  };
}

type Demo = Awaited<ReturnType<typeof demo>>;

function place({ json }: Demo, product: string, quantity = 1) {
  return json("orders", "create", "--partner", "demo", "--product", product, "--quantity", String(quantity));
}

async function aud({ json }: Demo): Promise<number> {
  const { balances } = await json("wallet", "balance", "--partner", "demo");
  return balances.find((balance: { currency: string }) => balance.currency === "AUD").balance_cents;
}

test("the operator ships a physical SIM, and cancels another with its money back", { tags: ["slow"] }, async () => {
  const here = await demo();
  const before = await aud(here);
  const order = await place(here, "PS-EU-30GB-30D");
  const toShip = { order_id: order.id, partner: "demo", status: "paid", product_sku: "PS-EU-30GB-30D", quantity: 1 };
  expect(await here.json("orders", "queue", "--to-ship")).toMatchObject({ data: [toShip], count: 1 });
  const inLine = async () => {
    const { queues } = await here.json("status");
    return queues.find(({ queue }: { queue: string }) => queue === "orders_to_ship");
  };
  expect(await inLine()).toMatchObject({ waits_for: "staff", waiting: 1, oldest_at: order.created_at });
  const shipped = await here.json("orders", "ship", order.order_number, "--carrier", "AusPost", "--tracking", "AP1");
  expect(shipped).toMatchObject({ id: order.id, status: "fulfilled" });
  const again = await here.run("orders", "ship", order.id, "--carrier", "AusPost", "--tracking", "AP1", "--json");
  expect([again.exitCode, JSON.parse(again.stdout).error.code]).toEqual([1, "conflict"]);
  expect(await inLine()).toMatchObject({ waiting: 0, oldest_at: null });

  const other = await place(here, "PS-EU-30GB-30D", 2);
  const unasked = await here.run("orders", "cancel", other.id, "--reason", "changed her mind");
  expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  const cancelled = await here.json("orders", "cancel", other.id, "--reason", "changed her mind", "--yes");
  expect(cancelled).toMatchObject({ status: "cancelled", reason: "changed her mind" });
  expect((await here.run("orders", "queue", "--to-ship")).stdout).toBe("No SIM card waits to be shipped.");
  expect(await aud(here)).toBe(before - order.total_price_cents);
  expect(await here.json("wallet", "check")).toMatchObject({ ok: true });
});

test("suppliers are set by the operator; invalid settings are refused with a message", async () => {
  const { folder, run, json } = await demo();
  const template = join(folder, "mail.txt");
  writeFileSync(template, "Subject: {{product_sku}}\n\nFor {{customer_name}}.\n");
  const mail = ["suppliers", "set", "kestrel", "--adapter", "email", "--to", "orders@kestrel.example"];
  expect(await json(...mail, "--template", template)).toMatchObject({ name: "kestrel", has_template: true, url: null });
  const lacking = await run("suppliers", "set", "northwind", "--adapter", "http", "--json");
  expect([lacking.exitCode, JSON.parse(lacking.stdout).error]).toMatchObject([2, { code: "usage" }]);
  const http = ["suppliers", "set", "northwind", "--adapter", "http", "--url", "https://n.example/x", "--secret", "-"];
  const secret = "kept out of the shell history";
  const set = await esimctl([...http, "--json", `--data=${join(folder, "data")}`], { input: secret });
  expect(JSON.parse(set.stdout)).toMatchObject({ has_secret: true });
  expect(set.stdout + set.stderr).not.toContain(secret);
  const { data, count } = await json("suppliers", "list");
  expect([count, data.map((supplier: { name: string }) => supplier.name)]).toEqual([2, ["kestrel", "northwind"]]);
});

const HEAD = "External Order ID;sku;quantity;customer_email;customer_name\n";

test("orders from a file: rows of one order join, invalid ones are rejected, no order is placed twice", async () => {
  const here = await demo();
  const file = join(here.folder, "orders.csv");
  const rows = [
    "o-1;ES-EU-5GB-30D;1;mia@example.com;Mia Chen",
    "o-2;ES-EU-5GB-30D;0;noa@example.com;Noa Bar",
    "o-1;ES-GLB-1GB-7D;2;mia@example.com;Mia Chen",
    "o-2;ES-EU-5GB-30D;1;noa@example.com;Noa Bar",
    "o-3;NO-SUCH-SKU;1;ken@example.com;Ken Ito",
    "o-4;ES-EU-5GB-30D;1;ken@example.com;Ken Ito",
  ];
  writeFileSync(file, `${HEAD}${rows.join("\n")}\n`);
  const before = await aud(here);
  const dry = await here.run("orders", "bulk", file, "--partner", "demo", "--dry-run");
  expect([dry.exitCode, dry.stdout]).toEqual([3, expect.stringContaining("2 orders")]);
  expect(await aud(here)).toBe(before);

  const ended = await here.run("orders", "bulk", file, "--partner", "demo", "--json");
  expect(ended.exitCode).toBe(3);
  const answer = JSON.parse(ended.stdout);
  expect(answer.summary).toEqual({ total: 2, successful: 2, failed: 0 });
  const ids = answer.results.map((result: { external_order_id: string }) => result.external_order_id);
  expect(ids).toEqual(["o-1", "o-4"]);
  const rejected = join(here.folder, "orders.rejected.csv");
  expect(statSync(rejected).mode & 0o777).toBe(0o600);
  expect(readFileSync(rejected, "utf8").trim().split("\n")).toHaveLength(4);
  expect(readFileSync(rejected, "utf8")).toMatch(/o-3;.*;6;no product is called NO-SUCH-SKU/);

  const spent = await aud(here);
  expect(spent).toBeLessThan(before);
  const again = JSON.parse((await here.run("orders", "bulk", file, "--partner", "demo", "--json")).stdout);
  const replays = answer.results.map((result: object) => ({ ...result, replayed: true }));
  expect(again.results).toEqual(replays);
  expect(await aud(here)).toBe(spent);

  const placed = (await here.run("orders", "bulk", file, "--partner", "demo")).stdout;
  expect(placed).toMatch(/^2 orders: 2 placed, now or before\.\n/);
  expect(placed).toMatch(/ 1 +no product is called NO-SUCH-SKU +6 +-/);
  const strict = await here.run("orders", "bulk", file, "--partner", "demo", "--strict", "--json");
  expect([strict.exitCode, JSON.parse(strict.stdout).summary.total]).toEqual([1, 0]);
});

/** What makes the API's own order items of a product on sale. */
async function orderItems({ json }: Demo) {
  const { data } = await json("products", "list", "--region", "europe", "--country", "FRA", "--limit", "1");
  return (external_order_id: string, quantity: number, customer: object = {}) => ({
    external_order_id,
    line_items: [{ product_id: data[0].id, quantity }],
    customer: { email: "mia@example.com", name: "Mia Chen", ...customer },
  });
}

test("an array of the API's own order items is sent as it is", async () => {
  const here = await demo();
  const item = await orderItems(here);
  const file = join(here.folder, "orders.json");
  writeFileSync(file, `\uFEFF${JSON.stringify(Array.from({ length: 120 }, (_, i) => item(`o-${i}`, 1)))}`);
  const answer = await here.json("orders", "bulk", file, "--partner", "demo", "--sandbox");
  expect(answer.summary).toEqual({ total: 120, successful: 120, failed: 0 });
  expect(answer.results).toHaveLength(120);
  writeFileSync(file, "{");
  const broken = await here.run("orders", "bulk", file, "--partner", "demo", "--json");
  expect([broken.exitCode, JSON.parse(broken.stdout).error.code]).toEqual([1, "json_invalid"]);
});

test("items of a JSON array are all checked before any is sent, and bad ones are named", async () => {
  const here = await demo();
  const item = await orderItems(here);
  const file = join(here.folder, "orders.json");
  const good = Array.from({ length: 100 }, (_, i) => item(`o-${i}`, 1));
  const twins = [item("twin", 1), item(" twin", 2)];
  const bad = [item("o-x", 0), "nothing", item("o-nul", 1, { name: "a\0b" }), ...twins];
  writeFileSync(file, JSON.stringify([...good, ...bad, item("o-1", 1)]));
  const sandbox = ["orders", "bulk", file, "--partner", "demo", "--sandbox"];
  const strict = await here.run(...sandbox, "--strict", "--json");
  expect([strict.exitCode, JSON.parse(strict.stdout).summary.total]).toEqual([1, 0]);
  const dry = await here.run(...sandbox, "--dry-run");
  expect(dry).toMatchObject({ exitCode: 3, stdout: expect.stringContaining("101 orders read; nothing was sent") });
  expect(dry.stdout).toContain("item 101 (o-x): line_items.0.quantity must be between 1 and 10000");
  expect(dry.stdout).toContain("item 102: must be an object");
  expect(dry.stdout).toContain("item 103 (o-nul): customer.name must not contain a NUL character");
  expect(dry.stdout).toContain("item 105 (twin): external_order_id is that of another order too (items 104 and 105)");
  const ended = await here.run(...sandbox, "--json");
  const rejected_file = join(here.folder, "orders.rejected.json");
  expect([ended.exitCode, JSON.parse(ended.stdout)]).toMatchObject([
    3,
    { rejected: 5, rejected_file, summary: { total: 101, successful: 101 } },
  ]);
  expect(JSON.parse(readFileSync(rejected_file, "utf8"))).toMatchObject(
    bad.map((record, at) => ({ index: 100 + at, record })),
  );
  expect(statSync(rejected_file).mode & 0o777).toBe(0o600);
  writeFileSync(file, JSON.stringify(bad));
  expect(await here.run(...sandbox)).toMatchObject({ exitCode: 1 });
});

test("orders that are larger together than a request may be go in several", async () => {
  const here = await demo();
  const item = await orderItems(here);
  const metadata = { note: "x".repeat(16_000) };
  const large = Array.from({ length: 80 }, (_, i) => ({ ...item(`o-${i}`, 1), metadata }));
  const input = JSON.stringify([...large, { ...item("o-huge", 1), ignored: "x".repeat(1_100_000) }]);
  const args = ["orders", "bulk", "-", "--partner", "demo", "--sandbox", "--json", `--data=${here.data}`];
  const ended = await esimctl(args, { input, cwd: here.folder });
  expect([ended.exitCode, JSON.parse(ended.stdout)]).toMatchObject([
    3,
    { rejected: 1, rejected_file: "stdin.rejected.json", summary: { successful: 80 } },
  ]);
  const row = "o-csv;ES-EU-5GB-30D;1;mia@example.com;Mia Chen\n";
  const csv = await esimctl(args, { input: HEAD + row, cwd: here.folder });
  expect([csv.exitCode, JSON.parse(csv.stdout).summary.successful]).toEqual([0, 1]);
});
