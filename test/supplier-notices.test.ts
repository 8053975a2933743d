import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { simulateAiralo } from "../src/daemon/simulators/airalo.ts";
import { simulateEsimaccess } from "../src/daemon/simulators/esimaccess.ts";
import { call } from "./support/platform.ts";
import { startProviderShop } from "./support/providers/shop.ts";

const esimaccess = () => startProviderShop(simulateEsimaccess({ perSecond: 1_000 }), { plan: "CJP101", cost: 7_000 });
const airalo = () => startProviderShop(simulateAiralo(), { plan: "hinode-7days-1gb", cost: 36_000 });

/** Posts a notice as providers do. */
function post(url: string, body: string | Blob, headers: Record<string, string> = {}) {
  return call(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
}

test("only the whole path of a provider is answered; any other is an unknown path", async () => {
  const shop = await esimaccess();
  expect((await call(shop.callback, { method: "HEAD" })).status).toBe(200);
  const health = { notifyType: "CHECK_HEALTH", content: { orderNo: "B1", orderStatus: "Test" } };
  expect(await post(shop.callback, JSON.stringify(health))).toMatchObject({ status: 200, body: { ok: true } });
  const wrong = [
    shop.callback.slice(0, -1),
    `${shop.callback}x`,
    shop.callback.replace("skyline", "kestrel"),
    `${shop.url}/callbacks/suppliers/skyline/guess`,
  ];
  for (const url of wrong) {
    const nowhere = await call(`${shop.url}/no/such/path`, { method: "POST" });
    const refused = await post(url, "{}");
    expect(refused).toMatchObject({ status: 404, body: { title: nowhere.body.title, type: nowhere.body.type } });
    expect(refused.body.detail).toBe(`There is nothing at ${new URL(url).pathname}.`);
    expect((await call(url, { method: "HEAD" })).status).toBe(404);
  }
  expect((await call(shop.callback)).status).toBe(405);
});

test("a notice of eSIM Access has the eSIM looked up, and nothing that it says is believed", async () => {
  const shop = await esimaccess();
  const { iccids } = await shop.buy();
  const [iccid = ""] = iccids;
  shop.clock.advance(1_000);
  await fetch(`${shop.provider.url}/webhook/save`, {
    method: "POST",
    headers: { "rt-accesscode": "DEMOACCESS" },
    body: JSON.stringify({ webhook: shop.callback }),
  });
  // Made up by who knows the path: it says that all is used.
  const { supplier_ref } = await shop.row(iccid);
  const content = { iccid, esimTranNo: supplier_ref, esimStatus: "USED_UP", smdpStatus: "ENABLED", orderNo: "B1" };
  const forged = { notifyType: "ESIM_STATUS", content: { ...content, transactionId: "x" } };
  expect((await post(shop.callback, JSON.stringify(forged))).status).toBe(200);
  expect(await shop.row(iccid)).toMatchObject({ look_at: shop.clock.now(), status: "inactive", install_state: null });
  expect(await shop.look()).toBe(1);
  expect(await shop.row(iccid)).toMatchObject({ status: "inactive", install_state: "not_downloaded", used_mb: 0 });

  // The provider's own notices, each sent twice.
  shop.clock.advance(1_000);
  const statuses = await shop.provider.phone({ iccid, state: "in_use", used_mb: 900, repeat: true });
  expect(statuses.length).toBeGreaterThan(5);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await shop.look()).toBe(1);
  expect(await shop.row(iccid)).toMatchObject({ status: "active", install_state: "enabled", used_mb: 900 });
  expect((await shop.events()).map(({ kind }) => kind)).toEqual(["esim.activated", "esim.data_low"]);

  // A late one changes nothing either.
  shop.clock.advance(3_600_000);
  await post(shop.callback, JSON.stringify(forged));
  await shop.look();
  expect(await shop.row(iccid)).toMatchObject({ status: "active", used_mb: 900 });
  expect((await shop.events()).length).toBe(2);
});

test("a notice that names another eSIM, or none, is taken and changes nothing", async () => {
  const shop = await esimaccess();
  const { iccids } = await shop.buy();
  const before = await shop.row(iccids[0] ?? "");
  for (const content of [{ iccid: "8944590004463637008", esimTranNo: "26000000000001" }, null]) {
    const answer = await post(shop.callback, JSON.stringify({ notifyType: "ESIM_STATUS", content }));
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
  }
  expect(await shop.row(iccids[0] ?? "")).toEqual(before);
});

test("Airalo's signature is asked for, over the bytes as they came", async () => {
  const shop = await airalo();
  const { iccids } = await shop.buy();
  const [iccid = ""] = iccids;
  const before = await shop.row(iccid);
  shop.clock.advance(1_000);
  const body = JSON.stringify({ level: "75%", package_name: "1 GB", remaining_percentage: 25, iccid });
  const sign = (text: string) => createHmac("sha512", "DEMO_CLIENT_SECRET").update(text).digest("hex");
  expect((await post(shop.callback, body)).status).toBe(401);
  expect((await post(shop.callback, body, { "airalo-signature": sign(`${body} `) })).status).toBe(401);
  expect((await shop.row(iccid)).look_at).toBe(before.look_at);
  const signed = await post(shop.callback, body, { "airalo-signature": sign(body), "content-type": "text/plain" });
  expect(signed).toMatchObject({ status: 200, body: { ok: true } });
  expect((await shop.row(iccid)).look_at).toBe(shop.clock.now());
});

test("a body that is no notice is bounded and refused", async () => {
  const shop = await esimaccess();
  expect((await post(shop.callback, "x".repeat(256 * 1024 + 1))).status).toBe(413);
  expect((await post(shop.callback, "not json")).status).toBe(401);
  expect((await post(shop.callback, new Blob([Buffer.from([0xff, 0xfe, 0x00])]))).status).toBe(401);
  expect((await call(shop.callback, { method: "POST" })).status).toBe(401);
});
