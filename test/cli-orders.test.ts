import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { eventually } from "./support/hangs.ts";
import { demoData } from "./support/installation.ts";
import { forAllTests, type Owner } from "./support/owner.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** A demo installation, which has a catalog, stock and the partner `demo`. */
async function demo(owner?: Owner) {
  const { data } = await demoData(temporaryDirectory(owner));
  const args = (line: string) => [...line.split(" "), "--data", data];
  return {
    data,
    run: (line: string) => esimctl(args(line)),
    json: async (line: string) => Object(await esimctlJson(args(line))),
  };
}

/** The same, which a daemon serves. */
const served = forAllTests(async (owner) => {
  const made = await demo(owner);
  return { ...made, daemon: await startDaemon({ data: made.data, owner }) };
});

test("an order from creation to its QR code, in the sandbox and in production", { tags: ["slow"] }, async () => {
  const { daemon, run, json } = served();
  for (const [where, first] of [
    ["--sandbox", "pending_payment"],
    ["", "paid"],
  ] as const) {
    const acting = `--partner demo ${where}`.trim();
    const order = `orders create ${acting} --product ES-EU-5GB-30D --quantity 2 --idempotency-key k-1`;
    const created = await json(order);
    expect(created).toMatchObject({ status: first, quantity: 2, product_sku: "ES-EU-5GB-30D" });
    const shown = () => json(`orders show ${created.id} ${acting}`);
    expect((await eventually(shown, ({ status }) => status === "fulfilled")).line_items).toHaveLength(1);
    expect(await json(order)).toMatchObject({ id: created.id, status: "fulfilled" });
    expect(await json(`orders list ${acting}`)).toMatchObject({ data: [{ id: created.id }], pagination: { count: 1 } });
    const filtered = async (filter: string) => (await json(`orders list ${acting} ${filter}`)).pagination.count;
    const sold = "--product-id ES-EU-5GB-30D --created-after 2020-01-01 --created-before 2999-01-01T00:00:00+01:00";
    expect([await filtered(sold), await filtered("--external-order-id k-1")]).toEqual([1, 0]);
    expect(await json(`orders show ${created.order_number.toLowerCase()} ${acting}`)).toMatchObject({ id: created.id });
    const { esims, count } = await json(`orders esims ${created.order_number} ${acting}`);
    expect(count).toBe(2);
    expect(esims[0].qr_code_url.startsWith(`${daemon.url}/qr/`)).toBe(true);
    const drawn = await run(`orders esims ${created.id} --qr`);
    expect(drawn.stdout).toContain(esims[1].activation_code);
    expect(drawn.stdout.match(/[█▀▄ ]{25,}/g)?.length).toBeGreaterThan(4);
  }
});

test("an order that its stock cannot fill waits for the operator", async () => {
  const { run, json } = served();
  const place = async () => {
    const { id } = await json("orders create --partner demo --product ES-GLB-3GB-15D --quantity 60");
    const shown = () => json(`orders show ${id} --partner demo`);
    const { order_number } = await eventually(shown, ({ status }) => status === "waiting_review");
    return { id, number: order_number, shown };
  };
  const held = await place();
  const inside = await run(`orders show ${held.number}`);
  expect(inside.stdout).toMatch(/^reason +stock is short \(ES-GLB-3GB-15D: 60 needed, 0 in stock\)$/m);
  expect(await run("orders show ORD-20200101-AAAAA --partner demo")).toMatchObject({ exitCode: 1, stdout: "" });
  const again = await run(`orders retry ${held.number}`);
  expect(again).toMatchObject({ exitCode: 1, stdout: "" });
  expect(again.stderr).toMatch(/still short: ES-GLB-3GB-15D needs 60, has 0\. Import more, then retry again/);
  const unasked = await run(`orders approve ${held.number}`);
  expect(unasked).toMatchObject({ exitCode: 1, stdout: "" });
  const short = await run(`orders approve ${held.number} --yes`);
  expect(short).toMatchObject({ exitCode: 1, stdout: "" });
  const fits = await run("orders create --partner demo --product ES-EU-5GB-30D --quantity 1");
  expect(fits).toMatchObject({ exitCode: 0, stderr: "" });
  expect(short.stderr).toMatch(/still short: ES-GLB-3GB-15D needs 60, has 0/);

  const asked = await run(`orders reject ${held.number} --reason none`);
  expect(asked).toMatchObject({ exitCode: 2, stdout: "" });
  const words = "ends cancelled; \\d+\\.\\d\\d AUD refunded\\.";
  expect(asked.stderr).toMatch(new RegExp(`Reject ${held.number}\\? It ${words}`));

  const before = await json("wallet balance --partner demo");
  const rejected = await json(`orders reject ${held.number} --reason gone --yes`);
  expect(rejected).toMatchObject({ id: held.id, status: "cancelled", reason: "gone" });
  expect(rejected.done).toMatchObject({ refund_cents: rejected.total_price_cents });
  const after = await json("wallet balance --partner demo");
  expect(after.balances[0].balance_cents - before.balances[0].balance_cents).toBe(rejected.total_price_cents);
  expect((await run(`orders approve ${held.id} --yes`)).exitCode).toBe(1);
  const trail = await json(`audit list --target ${held.number}`);
  const actions = trail.data.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(["orders.reject", "orders.hold", "orders.create"]);
  const story = await run(`find ${held.number}`);
  expect(story.stdout).toMatch(
    /orders\.hold \(status: paid → waiting_review\), stock is short \(ES-GLB-3GB-15D: 60 needed, 0/,
  );
  expect((await json("wallet check")).ok).toBe(true);
  const ledger = await json("wallet ledger --partner demo --all");
  const booked = ledger.data.filter((entry: { order_id: string }) => entry.order_id === held.id);
  expect(booked).toMatchObject(["refund", "charge"].map((kind) => ({ kind, reference: held.number })));
});

test("rows of one order that name different customers are refused, and the others go", async () => {
  const { json, run } = await demo();
  const file = join(temporaryDirectory(), "orders.csv");
  const head = "external_order_id,sku,quantity,customer_email,customer_name,customer_phone";
  const row = (id: string, email: string, name: string) => `${id},ES-EU-5GB-30D,1,${email},${name},`;
  writeFileSync(
    file,
    [
      ...[head, row("100001", "anna@example.com", "Anna Berg"), row("100001", "bea@example.com", "Bea Holm")],
      ...[row("2", "cleo@example.com", "Cleo  Dahl"), row("2", "Cleo@example.com", "Cleo Dahl")],
      row("1.00E+05", "dora@example.com", "Dora Ek"),
    ].join("\n"),
  );
  const ended = await run(`orders bulk ${file} --partner demo --json`);
  expect(ended.exitCode).toBe(3);
  expect(JSON.parse(ended.stdout)).toMatchObject({ rejected: 3, summary: { total: 1, successful: 1 } });
  const rejected = readFileSync(file.replace(".csv", ".rejected.csv"), "utf8");
  expect(rejected.match(/external_order_id is that of another customer too \(lines 2 and 3\)/g)).toHaveLength(2);
  expect(rejected).toContain("external_order_id was shortened by a spreadsheet");
  const { data: orders } = await json("orders list --partner demo");
  expect(orders).toMatchObject([{ external_order_id: "2", quantity: 2, customer: { name: "Cleo  Dahl" } }]);
});

test("a delivered order is refunded after a confirmation, and cancel names the way", async () => {
  const { run, json } = await demo();
  const { order_number } = await json("orders create --partner demo --product PS-AU-35GB-28D --quantity 2");
  await json(`orders ship ${order_number} --carrier Post --tracking T1`);
  const cancelled = await run(`orders cancel ${order_number} --reason no --yes`);
  expect(cancelled).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("esimctl orders refund") });
  const asked = await run(`orders refund ${order_number} --line 1 --units 1 --reason broken`);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toMatch(
    /Refund ORD-\S+\? It stays fulfilled, with its eSIMs as they are; \d+\.\d\d AUD refunded/,
  );
  const refunded = await json(`orders refund ${order_number} --line 1 --units 1 --reason broken --yes`);
  expect(refunded.done.refund_cents).toBe(refunded.unit_price_cents);
  expect(refunded).toMatchObject({ status: "fulfilled", refunded_cents: refunded.unit_price_cents });
  expect((await run(`orders refund ${order_number} --units 1 --amount 1 --reason x --yes`)).exitCode).toBe(2);
  expect((await run(`orders refund ${order_number} --amount 99999 --reason x --yes`)).stderr).toContain("at most");
  expect((await json("wallet check")).ok).toBe(true);
});

test("approve, cancel, ship and retry show their consequence before they act, and report it afterwards", async () => {
  const { run, json } = await demo();
  await json("webhooks create https://hooks.example.com/x --events order.fulfilled,order.cancelled --partner demo");
  const order = async (sku: string, quantity: number) => {
    const { order_number } = await json(`orders create --partner demo --product ${sku} --quantity ${quantity}`);
    return order_number;
  };
  // Nothing serves: what is left to the worker stays paid.
  const card = await order("PS-AU-35GB-28D", 2);
  const shipped = await run(`orders ship ${card} --carrier Post --tracking T1`);
  const events = "events: order.fulfilled to 1 endpoint";
  expect(shipped.exitCode).toBe(0);
  expect(shipped.stderr).toContain(`${card}: ends fulfilled; 2 × PS-AU-35GB-28D count as shipped; ${events}.`);
  expect(shipped.stdout).toMatch(/shipped +2 × PS-AU-35GB-28D\n/);
  const tracked = await run(`orders show ${card} --partner demo`);
  expect(tracked.stdout).toMatch(/ shipped Post T1$/m);
  expect((await run(`orders ship ${card} --carrier Post --tracking T2`)).stderr).toContain("are all shipped already");
  const supplied = await run(`orders show ${await order("EA-GLB-50GB-180D", 3)} --partner demo`);
  expect(supplied.stdout).toMatch(/^[0-9a-f-]{36} +pending +\w+ +3 +- +-$/m);
  const other = await order("ES-EU-5GB-30D", 11);
  const created = await run("orders create --partner demo --product ES-EU-5GB-30D --quantity 1");
  expect(created.stderr).toBe(
    "No daemon serves this data: what is not delivered yet waits until esimctl serve delivers it.",
  );
  const retried = await run(`orders retry ${other} --quiet`);
  expect(retried).toMatchObject({ exitCode: 0, stderr: "" });
  expect((await run(`orders retry ${other}`)).stderr).toContain(
    `${other}: stays paid until the rest is delivered; no part of it is stuck.`,
  );
  expect((await run(`orders ship ${other} --carrier Post --tracking T1`)).stderr).toContain("has no SIM cards to ship");
  const cancelled = await run(`orders cancel ${other} --reason no --yes`);
  expect(cancelled.stderr).toMatch(/ends cancelled; 11 eSIMs .* to stock; \d+\.\d\d AUD refunded; events: order\.c/);
  expect(cancelled.stdout).toMatch(/refunded +\d+\.\d\d AUD\nto stock +11 .*\nevents +order\.cancelled to 1 endpoint/);
});

test("verbs of the operator and of partners", async () => {
  const { run, json } = await demo();
  await json("partners create newcomer --name Newcomer");
  const refused = await run("orders list --partner newcomer");
  expect(refused).toMatchObject({ exitCode: 4, stdout: "" });
  expect(refused.stderr).toMatch(/no production access.*\n.*--sandbox/);
  expect(await json("orders list --partner newcomer --sandbox")).toMatchObject({ data: [] });
  expect(await json("orders list")).toMatchObject({ data: [], count: 0 });
  const unnamed = await run("orders create --product ES-EU-5GB-30D --quantity 1");
  expect(unnamed.exitCode).toBe(2);
  expect(unnamed.stderr).toMatch(/--partner/);
  for (const whose of ["", " --partner newcomer --sandbox"]) {
    const unknown = await run(`orders list --sku NOPE${whose}`);
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("No product has the SKU NOPE.")]);
  }
  const ghost = await run("orders list --partner ghost");
  expect(ghost).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/What there is: esimctl partners list$/) });
  const broke = "orders create --partner newcomer --product ES-EU-5GB-30D --quantity 1";
  await json("partners update newcomer --production");
  const unpaid = await run(`${broke} --json`);
  expect(unpaid.exitCode).toBe(1);
  expect(JSON.parse(unpaid.stdout).error).toMatchObject({
    code: "insufficient_balance",
    hint: expect.stringMatching(/[Tt]op up/),
  });
});
