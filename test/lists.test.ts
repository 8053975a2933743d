import { expect, test } from "vitest";
import { iccid, startActivationPlatform } from "./support/activations.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import type { Caller } from "./support/platform.ts";

const DAY_MS = 86_400_000;
const START = Date.parse("2026-03-02T01:00:00.000Z");
const day = (at: number) => new Date(START + at * DAY_MS).toISOString().slice(0, 10);

/** Three days of orders of two partners: A-1 and B-1 on the first, A-2 on the second, A-3 and B-3 on the third. */
async function threeDays() {
  const platform = await startActivationPlatform({ start: new Date(START).toISOString() });
  const products = await addProducts(platform.store, [{ sku: "SMALL" }, { sku: "LARGE" }]);
  await addStock(platform.store, "SMALL", 9);
  await addStock(platform.store, "LARGE", 2);
  for (const slug of ["acme", "beta"] as const) {
    const { partnerId } = await platform.caller({ slug, live: true });
    await platform.fund(partnerId, 1_000_000);
  }
  const callers = async () => ({
    acme: await platform.credential("acme", { live: true }),
    beta: await platform.credential("beta", { live: true }),
  });
  let { acme, beta } = await callers();
  const nextDay = async () => {
    platform.clock.advance(DAY_MS);
    ({ acme, beta } = await callers());
  };
  const book = async (partner: Caller, external_order_id: string, sku: string, name: string, quantity = 1) => {
    const [first = ""] = name
      .normalize("NFKD")
      .replace(/[^a-z ]/gi, "")
      .toLowerCase()
      .split(" ");
    const customer = { email: `${first}@example.com`, name };
    const order = { external_order_id, line_items: [{ product_id: products[sku], quantity }], customer };
    const { body } = await partner.send("POST", "/api/v1/orders/bulk", { orders: [order] });
    expect(body.summary).toMatchObject({ successful: 1 });
    await platform.fulfill();
  };
  await book(acme, "A-1", "SMALL", "Zoë Müller");
  await book(beta, "B-1", "SMALL", "=Ken Ito");
  await nextDay();
  await book(acme, "A-2", "LARGE", "Mia Chen", 2);
  await nextDay();
  await book(acme, "A-3", "SMALL", "Mia Chen");
  await book(beta, "B-3", "LARGE", "Ann-Marie Müller");
  return { ...platform, ...deskOf(platform), acme, callers, nextDay };
}

type Desk = Awaited<ReturnType<typeof threeDays>>;
const named = ({ data }: { data: { external_order_id: string }[] }) =>
  data.map(({ external_order_id }) => external_order_id).join(" ");

test("orders of all partners, newest first, are narrowed by each filter", async () => {
  const desk: Desk = await threeDays();
  const { json } = desk;
  const listed = async (filter: string) => named(await json(`orders list ${filter}`.trim()));
  const all = await json("orders list");
  expect(all).toMatchObject({ count: 5, pagination: { has_more: false, next_cursor: null } });
  expect(named(all)).toBe("B-3 A-3 A-2 B-1 A-1");
  expect(all.data[0]).toMatchObject({ partner: "beta", environment: "production", status: "waiting_review" });
  for (const [filter, expected] of [
    [`--since ${day(1)}`, "B-3 A-3 A-2"],
    [`--until ${day(1)}`, "B-1 A-1"],
    [`--since ${day(1)} --until ${day(2)}`, "A-2"],
    ["--status fulfilled", "A-3 A-2 B-1 A-1"],
    [`--status fulfilled --since ${day(1)} --until ${day(2)}`, "A-2"],
    ["--sku LARGE", "B-3 A-2"],
    ["--sku LARGE --status fulfilled", "A-2"],
    ["--customer mia", "A-3 A-2"],
    ["--customer MULLER", "B-3 A-1"],
    ["--customer chen --sku SMALL", "A-3"],
    ["--customer MIA@example.com", "A-3 A-2"],
    [`--customer mia@example.com --until ${day(2)}`, "A-2"],
    ["--customer hen", ""],
    ["--customer müller --partner acme", "A-1"],
    [`--partner beta --since ${day(1)}`, "B-3"],
    ["--partner acme --sku LARGE", "A-2"],
    ["--sandbox", ""],
  ]) {
    expect([filter, await listed(filter ?? "")]).toEqual([filter, expected]);
  }
});

test("pages of orders add up to the whole list, with any filter", async () => {
  const { json, refusal } = await threeDays();
  const listed = async (filter: string) => named(await json(`orders list ${filter}`.trim()));
  for (const filter of ["", "--status fulfilled", "--customer mia", "--sku SMALL"]) {
    const whole = await listed(filter);
    let [walked, cursor] = ["", ""];
    do {
      const page = await json(`orders list --limit 1 ${filter}${cursor === "" ? "" : ` --cursor ${cursor}`}`);
      walked += ` ${named(page)}`;
      cursor = page.pagination.next_cursor ?? "";
    } while (cursor !== "");
    expect([filter, walked.trim()]).toEqual([filter, whole]);
    expect([filter, await listed(`--all --limit 1 ${filter}`.trim())]).toEqual([filter, whole]);
  }
  const { pagination } = await json("orders list --limit 1");
  const misused = await refusal(`orders list --status paid --cursor ${pagination.next_cursor}`);
  expect(misused).toMatchObject({ code: "invalid_cursor" });
});

test("orders of all partners are a table, a CSV file, or a partner's own at a server", async () => {
  const { run, refusal, at, acme } = await threeDays();
  const csv = (await run("orders list --csv")).stdout.split("\n");
  expect(csv).toHaveLength(6);
  expect(csv[0]).toMatch(
    /^partner,environment,id,order_number,.*,total_price_cents,.*,status,external_order_id,customer,.*,waiting$/,
  );
  expect(csv[1]).toMatch(
    /^beta,production,.*,ORD-.*,LARGE,1,.*,waiting_review,B-3,.*Ann-Marie Müller.*""act"":""approve""/,
  );
  const table = (await run("orders list")).stdout;
  expect(table).toMatch(/^partner +number +status/);
  expect(table).toContain("for operator: approve (stock)");
  expect(await refusal("orders list --external-order-id A-1")).toMatchObject({ exitCode: 2 });

  const remote = at(acme);
  expect(named(await remote.json(`orders list --since ${day(1)} --until ${day(2)}`))).toBe("A-2");
  expect(named(await remote.json("orders list --sku SMALL"))).toBe("A-3 A-1");
  expect((await remote.run("orders list --csv")).stdout.split("\n")).toHaveLength(4);
  const elsewhere = await remote.refusal("orders list --customer mia");
  expect(elsewhere).toMatchObject({ exitCode: 1, code: "operator_only" });
});

test("eSIMs of all partners, by the time of their order", async () => {
  const { json, run } = await threeDays();
  const orders = async (filter: string) => named(await json(`esims list ${filter}`.trim()));
  expect(await orders("")).toBe("A-3 A-2 A-2 B-1 A-1");
  for (const [filter, expected] of [
    [`--since ${day(1)}`, "A-3 A-2 A-2"],
    [`--since ${day(1)} --until ${day(2)}`, "A-2 A-2"],
    ["--sku SMALL", "A-3 B-1 A-1"],
    ["--partner acme --customer zoe", "A-1"],
    ["--status active", ""],
  ]) {
    expect([filter, await orders(filter ?? "")]).toEqual([filter, expected]);
  }
  const first = await json("esims list --limit 2");
  const rest = await json(`esims list --limit 3 --cursor ${first.pagination.next_cursor}`);
  expect(`${named(first)} ${named(rest)}`).toBe("A-3 A-2 A-2 B-1 A-1");
  expect(rest.pagination).toMatchObject({ has_more: false });
  expect(JSON.stringify(first)).not.toContain("MATCH-");
  expect((await run("esims list --csv --all")).stdout.split("\n")).toHaveLength(6);
});

test("activation requests of all partners", async () => {
  const { acme, callers, nextDay, submit, json, run, at } = await threeDays();
  const far = { activation_date: "2031-03-10", passport_expiry: "2034-01-01" };
  const old = await submit(acme, { ...far, iccid: iccid(), first_name: "Noa" });
  await nextDay();
  const { beta } = await callers();
  const young = await submit(beta, { ...far, iccid: iccid(), customer_email: "noa@example.com" });
  const ids = async (filter: string) =>
    (await json(`activations list ${filter}`.trim())).data.map(({ id }: { id: string }) => id);
  expect(await ids("")).toEqual([young, old]);
  expect(await ids(`--since ${day(3)}`)).toEqual([young]);
  expect(await ids(`--until ${day(3)}`)).toEqual([old]);
  expect(await ids("--customer noa")).toEqual([old]);
  expect(await ids("--customer noa@example.com")).toEqual([young]);
  expect(await ids("--status cancelled")).toEqual([]);
  expect(await ids("--status pending --customer underwold")).toEqual([young, old]);
  expect(await ids(`--partner acme --since ${day(1)}`)).toEqual([old]);
  const first = await json("activations list --limit 1");
  expect(first.data).toMatchObject([{ id: young, partner: "beta", waiting: null }]);
  expect(await ids(`--cursor ${first.pagination.next_cursor}`)).toEqual([old]);
  expect((await run("activations list --csv")).stdout).toMatch(/^partner,environment,id,iccid.*\nbeta,production,/);
  expect(await at(acme).refusal(`activations list --since ${day(1)}`)).toMatchObject({ code: "operator_only" });
});
