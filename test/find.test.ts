import { expect, test } from "vitest";
import { findStory, type Story } from "../src/core/find/find.ts";
import { ACTIVATIONS, iccid, request } from "./support/activations.ts";
import { addProducts } from "./support/catalog.ts";
import { passport } from "./support/passports.ts";
import { startPlatform } from "./support/platform.ts";

/** A platform with one product, a funded partner that calls, and what is found on it. */
async function shop() {
  const platform = await startPlatform();
  const { PLAN = "" } = await addProducts(platform.store, [{ sku: "PLAN" }]);
  const partner = await platform.caller({ agent: true });
  const send = async (id: string, method: string, path: string, body?: unknown) => {
    const headers = { "x-request-id": id, "idempotency-key": id };
    const reply = await partner.send(method, path, body, headers);
    expect(reply.status, `${method} ${path}`).toBeLessThan(300);
    return reply.body;
  };
  return {
    line: { product_id: PLAN, quantity: 1 },
    send,
    find: (what: string): Promise<Story> => platform.store.read(findStory, what),
  };
}

const audited = ({ timeline }: Story, id: string) =>
  timeline.filter((moment) => moment.kind === "audit" && moment.request_id === id).map(({ text }) => text);

test("a request id finds what the request made, and the timeline names the request", async () => {
  const { line, send, find } = await shop();
  const order = await send("call-1", "POST", "/api/v1/orders", { line_items: [line] });
  const story = await find("call-1");
  expect(story.matched).toMatchObject([{ kind: "order", id: order.id, name: order.order_number }]);
  expect(story.timeline[0]).toMatchObject({ kind: "order", request_id: "call-1" });

  const customer = { email: "Many@Example.com", name: "Many" };
  const orders = ["A", "B"].map((external_order_id) => ({ external_order_id, customer, line_items: [line] }));
  await send("call-bulk", "POST", "/api/v1/orders/bulk", { orders });
  expect((await find("call-bulk")).matched.map(({ kind }) => kind)).toEqual(["order", "order"]);

  const sim = request({ iccid: iccid(), activation_date: "2026-05-10" });
  const activation = await send("call-sim", "POST", ACTIVATIONS, sim);
  expect((await find("call-sim")).matched).toMatchObject([{ kind: "activation", id: activation.id }]);
  await send("call-move", "PATCH", `${ACTIVATIONS}/${activation.id}`, { note: "call first" });
  await send("call-stop", "POST", `${ACTIVATIONS}/bulk/cancel`, { iccids: [sim.iccid] });
  const moved = await find("call-move");
  expect(moved.matched).toMatchObject([{ kind: "activation", id: activation.id, status: "cancelled" }]);
  expect(audited(moved, "call-move")).toEqual([expect.stringMatching(/^client:.*: activations\.edit \(note\)$/)]);
  expect(audited(moved, "call-stop")).toEqual([
    expect.stringMatching(/: activations\.cancel \(status: pending → cancelled\)$/),
  ]);
});

test("changes that a request made to other records are listed", async () => {
  const { send, find } = await shop();
  const url = "https://hooks.example.net/esim";
  await send("call-hook", "POST", "/api/v1/webhooks", { url, events: ["order.created"] });
  const made = await find("call-hook");
  expect(made).toMatchObject({ matched: [], timeline: [{ kind: "audit", request_id: "call-hook" }] });
  expect(made.timeline[0]?.text).toMatch(/: webhooks\.create$/);
  const records = [passport()];
  const [{ id }] = (await send("call-import", "POST", "/api/v1/kyc/passports", { records })).records;
  expect(audited(await find("call-import"), "call-import")).toEqual([expect.stringContaining("passports.import")]);
  await send("call-withdraw", "DELETE", `/api/v1/kyc/passports/${id}`);
  expect((await find("call-withdraw")).matched).toMatchObject([{ kind: "passport", id, status: "withdrawn" }]);
  await expect(find("call-nobody")).rejects.toMatchObject({ slug: "not_found" });
});

test("of more than 50 orders the newest 50 are listed, with a note that there are more", async () => {
  const { line, send, find } = await shop();
  const customer = { email: "Many@Example.com", name: "Many" };
  const batch = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ external_order_id: `M-${from + at}`, customer, line_items: [line] }));
  const first = await send("call-50", "POST", "/api/v1/orders/bulk", { orders: batch(0, 50) });
  expect(await find("many@example.com")).toMatchObject({ truncated: [] });
  const last = await send("call-51", "POST", "/api/v1/orders/bulk", { orders: batch(50, 1) });
  const story = await find("MANY@example.com ");
  expect(story.truncated).toEqual(["order"]);
  const found = story.matched.map(({ id }) => id);
  expect(found).toHaveLength(50);
  expect(found[0]).toBe(last.results[0].service_order_id);
  const all = new Set([...first.results, ...last.results].map((result) => result.service_order_id));
  expect(found.filter((id) => !all.has(id))).toEqual([]);
});
