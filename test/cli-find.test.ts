import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Story } from "../src/core/find/find.ts";
import { expectNoIdentity, request } from "./support/activations.ts";
import { csvOf } from "./support/csv-files.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const PARTNER = ["--partner", "acme"];
const NUMBER = "FIND 4711-9";

/** A shop with an order that waits for stock, and a SIM that was asked for with a passport, then cancelled. */
async function storied() {
  const folder = temporaryDirectory();
  const { data } = await openShop({ folder, stock: { EU5: 3 }, priceCents: 100, fundsCents: 1000 });
  const at = ["--data", data];
  const json = (...args: string[]) => esimctlJson([...args, ...at]);
  const as = (...args: string[]) => json(...args, ...PARTNER);
  await as("webhooks", "create", "https://shop.example.com/hook", "--events", "order.created");
  const bulk = [{ external_order_id: "SHOP-9", sku: "EU5", quantity: 4, customer_email: "Ann@Example.com" }];
  writeFileSync(join(folder, "orders.csv"), csvOf(bulk.map((row) => ({ ...row, customer_name: "Ann Able" }))));
  await as("orders", "bulk", join(folder, "orders.csv"));
  const { data: orders } = (await as("orders", "list")) as { data: { id: string; order_number: string }[] };
  const [order = { id: "", order_number: "" }] = orders;
  const dates = { activation_date: "2031-03-10", passport_expiry: "2034-01-01" };
  const sim = request({ ...dates, passport_no: NUMBER, customer_email: "ann@example.com" });
  writeFileSync(join(folder, "sims.csv"), csvOf([sim]));
  await as("activations", "submit", join(folder, "sims.csv"));
  await as("activations", "cancel", "--iccid", String(sim.iccid), "--yes");
  return {
    order,
    iccid: String(sim.iccid),
    json,
    find: async (...args: string[]) => (await json("find", ...args)) as Story,
    run: (...args: string[]) => esimctl(["find", ...args, ...at]),
    /** Puts into the database what a worker would. */
    byHand(statement: string) {
      const connection = new Database(join(data, "esimctl.db"));
      connection.exec(statement);
      connection.close();
    },
  };
}

const kinds = ({ matched }: Story) => matched.map(({ kind }) => kind);

describe("find", () => {
  test("shows an order's whole timeline, by any of its identifiers", async () => {
    const { order, find, byHand, run } = await storied();
    byHand(`INSERT INTO delivery_attempts SELECT '1', id, created_at + 5, 503, 12, null, null FROM deliveries;
      INSERT INTO delivery_attempts
        SELECT '2', id, created_at + 9, null, 10000, 'no answer in 10 s', null FROM deliveries`);
    const story = await find(order.order_number);
    expect(story.matched).toMatchObject([{ kind: "order", id: order.id, partner: "acme", environment: "production" }]);
    const lines = story.timeline.map(({ kind, text }) => `${kind}: ${text}`);
    expect(lines).toEqual(
      [
        `order: ${order.order_number} ordered: 4 × EU5 for 4.00 AUD`,
        "money: charge of 4.00 AUD",
        "webhook: order.created: pending for https://shop.example.com/hook",
        "webhook: payment.completed: no endpoint subscribes",
        "audit: operator (",
        "webhook: order.created to https://shop.example.com/hook: 503 in 12 ms",
        "webhook: order.created to https://shop.example.com/hook: no answer in 10 s in 10000 ms",
      ].map((line) => expect.stringContaining(line)),
    );
    const times = story.timeline.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());

    const event = story.timeline.find(({ kind }) => kind === "webhook")?.id ?? "";
    const money = story.timeline.find(({ kind }) => kind === "money")?.id ?? "";
    const request = story.timeline[0]?.request_id ?? "";
    for (const name of [order.id, order.order_number.toLowerCase(), "SHOP-9", event, money, request]) {
      expect((await find(name)).matched, name).toEqual(story.matched);
    }
    const people = await run(order.id);
    expect(people.stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}money {7}charge of 4\.00 AUD$/m);
  });

  test("an eSIM shows its order's timeline; eSIMs in stock and unknown ICCIDs are reported as such", async () => {
    const { order, find, run, byHand } = await storied();
    byHand(`UPDATE esims SET order_id = '${order.id}', assigned_at = 1,
      partner_id = (SELECT id FROM partners), environment = 'production' WHERE id = (SELECT min(id) FROM esims)`);
    const { matched } = await find(order.id);
    const iccid = matched.find(({ kind }) => kind === "esim")?.name ?? "";
    const story = await find(iccid);
    expect(kinds(story)).toEqual(["order", "esim"]);
    expect(story.timeline[0]).toMatchObject({ kind: "esim", text: `${iccid} assigned from stock` });
    const unknown = await run("8944500102198304826", "--json");
    expect([unknown.exitCode, JSON.parse(unknown.stdout).error.code]).toEqual([1, "not_found"]);
    expect(unknown.stdout).not.toContain("8944500102198304826");
  });

  test("an e-mail address finds orders and activations, whatever its case", async () => {
    const { find } = await storied();
    expect(kinds(await find("ANN@example.com")).sort()).toEqual(["activation", "order"]);
    const other = await esimctlFails(find("a_n@example.com"));
    expect(other).toMatch(/not_found/);
  });

  test("a passport number is found in any spelling, shown masked, and in full only with an audit entry", async () => {
    const { find, json, iccid, run } = await storied();
    const story = await find("find47119");
    expect(story.matched).toMatchObject([{ kind: "activation", name: iccid, status: "cancelled" }]);
    expect(story.matched[0]?.passport_no).toMatch(/^•+.{3}$/);
    expect(story.timeline.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["activation", "audit"]));
    expectNoIdentity(JSON.stringify(story));
    expect(JSON.stringify(story)).not.toContain("4711");

    const id = story.matched[0]?.id ?? "";
    const trail = async () => ((await json("audit", "list", "--target", id)) as { data: { action: string }[] }).data;
    const before = await trail();
    expect(before.map(({ action }) => action)).not.toContain("activations.reveal");
    const open = await find(iccid, "--reveal");
    expect(open.matched[0]?.passport_no?.replaceAll(/[\s-]/g, "")).toBe("FIND47119");
    expect((await trail()).map(({ action }) => action)).toContain("activations.reveal");
    const piped = await run("-", "--json");
    expect(piped.exitCode).toBe(2);
  });
});

/** What a look-up that fails prints. */
async function esimctlFails(looked: Promise<unknown>): Promise<string> {
  return looked.then(
    () => "it was found",
    (error: Error) => error.message,
  );
}
