import { describe, expect, test } from "vitest";
import type { EsimgoOptions } from "../src/daemon/simulators/esimgo-account.ts";
import { BRITAIN, FRANCE, openEsimgo, START, UNLIMITED } from "./support/providers/esimgo-service.ts";

const DAY = 86_400_000;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("apply", () => {
  test("takes from the inventory: a new eSIM without iccid, else the one that is named", async () => {
    const { buy, get, send, provider } = await openEsimgo();
    await buy(BRITAIN, { quantity: 2 });
    const { json } = await send("POST", "/esims/apply", { name: BRITAIN });
    expect(json).toEqual({
      esims: [{ iccid: expect.any(String), status: "ACTIVE", bundle: BRITAIN }],
      applyReference: expect.stringMatching(uuid),
    });
    const [{ iccid }] = json.esims;
    expect((await get("/inventory")).bundles[0].available[0]).toMatchObject({ total: 2, remaining: 1 });
    const again = await send("POST", "/esims/apply", { iccid, name: BRITAIN, allowReassign: false });
    expect(again.json.esims[0].iccid).toBe(iccid);
    expect((await get(`/esims/${iccid}/bundles`)).bundles[0].assignments).toHaveLength(2);
    expect((await get("/inventory")).bundles).toEqual([]);
    expect((await send("POST", "/esims/apply", { iccid, name: BRITAIN })).status).toBe(403);
    expect(provider.state()).toEqual({ bought: 2, balance: "997.2000" });
  });

  test("takes several at once, or none", async () => {
    const { buy, send, get } = await openEsimgo();
    await buy(BRITAIN, { quantity: 2 });
    await buy(FRANCE);
    const bundles = [
      { name: BRITAIN, repeat: 2 },
      { name: FRANCE, repeat: 2 },
    ];
    expect((await send("POST", "/esims/apply", { bundles })).status).toBe(403);
    expect((await get("/esims")).rows).toBe(0);
    const { json } = await send("POST", "/esims/apply", { bundles: [bundles[0], { name: FRANCE }] });
    expect(json.esims.map((one: { bundle: string }) => one.bundle)).toEqual([BRITAIN, BRITAIN, FRANCE]);
    expect(await get(`/esims/assignments?reference=${json.applyReference}`)).toHaveLength(3);
  });

  test("unused inventory lapses after a year", async () => {
    const { buy, get, send, advance } = await openEsimgo();
    await buy(BRITAIN);
    advance(365 * DAY);
    expect((await get("/inventory")).bundles).toEqual([]);
    expect((await send("POST", "/esims/apply", { name: BRITAIN })).status).toBe(403);
  });
});

describe("eSIMs", () => {
  test("install details are CSV unless JSON is asked for; one eSIM is no list", async () => {
    const { buy, send, get } = await openEsimgo();
    const { json } = await buy(BRITAIN, {}, true);
    const [esim] = json.order[0].esims;
    const path = `/esims/assignments?reference=${json.orderReference}`;
    expect(await get(path)).toEqual({
      ...esim,
      profileStatus: "Released",
      pin: expect.any(String),
      puk: expect.any(String),
    });
    expect((await get(`${path}&additionalFields=installUrl`)).appleInstallUrl).toContain(
      `LPA:1$${esim.smdpAddress}$${esim.matchingId}`,
    );
    const csv = await send("GET", path, undefined, { accept: "*/*" });
    expect(csv.headers.get("content-type")).toBe("text/csv");
    const [head, row] = csv.text.split("\n");
    expect(head).toBe('"ICCID","Matching ID","RSP URL","Bundle"');
    expect(row).toBe(`"${esim.iccid}","${esim.matchingId}","${esim.smdpAddress}","${BRITAIN}"`);
    expect((await send("GET", "/esims/assignments?reference=unknown")).status).toBe(400);
    await send("DELETE", `/esims/${esim.iccid}`);
    expect((await send("GET", path)).status).toBe(410);
    expect((await buy(FRANCE, { iccids: [esim.iccid] }, true)).status).toBe(400);
  });

  test("details, with milliseconds of the first installation", async () => {
    const { get, play, newEsim, advance } = await openEsimgo();
    const iccid = await newEsim();
    expect(await get(`/esims/${iccid}`)).toMatchObject({ profileStatus: "Released", state: "active", customerRef: "" });
    expect(await get(`/esims/${iccid}`)).not.toHaveProperty("firstInstalledDateTime");
    advance(5_000);
    play({ iccid, state: "installed" });
    const installed = { profileStatus: "Installed", firstInstalledDateTime: START + 5_000 };
    expect(await get(`/esims/${iccid}`)).toMatchObject(installed);
    play({ iccid, state: "deleted" });
    expect(await get(`/esims/${iccid}`)).toMatchObject({ ...installed, profileStatus: "Released" });
  });

  test("an own reference is kept, and the list is filtered by it", async () => {
    const { get, send, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    await newEsim();
    expect((await send("PUT", "/esims", { iccid, customerRef: "order-7" })).json).toEqual({ status: "success" });
    const { esims } = await get("/esims?filterBy=customerRef&filter=order-7");
    expect(esims).toEqual([
      {
        iccid,
        customerRef: "order-7",
        lastAction: "eSIM Updated",
        actionDate: "2026-03-01T10:00:00.000Z",
        physical: false,
        assignedDate: "2026-03-01T10:00:00.000Z",
        state: "active",
      },
    ]);
    expect((await get("/esims?perPage=25")).esims).toHaveLength(2);
    expect((await send("GET", "/esims?perPage=20")).status).toBe(400);
    expect((await get("/esims?filterBy=assignedDate&filter=2026-03-02")).esims).toEqual([]);
  });

  test("bundles wait in the queue in bytes, and run from the first use on", async () => {
    const { get, play, newEsim, advance } = await openEsimgo({ processing_ms: 60_000 });
    const iccid = await newEsim();
    const assignment = async () => (await get(`/esims/${iccid}/bundles`)).bundles[0].assignments[0];
    expect(await assignment()).toMatchObject({ bundleState: "processing", callTypeGroup: "data" });
    advance(60_000);
    expect(await assignment()).toMatchObject({
      bundleState: "queued",
      initialQuantity: 1_000_000_000,
      remainingQuantity: 1_000_000_000,
      allowances: [{ initialAmount: 1_000_000_000, unit: "BYTES" }],
    });
    expect(await assignment()).not.toHaveProperty("startTime");
    play({ iccid, state: "in_use", used_mb: 250 });
    expect(await assignment()).toMatchObject({
      bundleState: "active",
      remainingQuantity: 750_000_000,
      startTime: "2026-03-01T10:01:00Z",
      endTime: "2026-03-08T10:01:00Z",
    });
    expect((await get(`/esims/${iccid}`)).profileStatus).toBe("Enabled");
  });

  test("data runs over into the next bundle; what is over is listed where it is asked for", async () => {
    const { get, play, buy, newEsim, states, advance } = await openEsimgo();
    const iccid = await newEsim();
    await buy(FRANCE, { iccids: [iccid] }, true);
    play({ iccid, used_mb: 1_200 });
    expect(await states(iccid)).toEqual(["depleted", "active"]);
    const { bundles } = await get(`/esims/${iccid}/bundles`);
    expect(bundles.map((one: { name: string }) => one.name)).toEqual([FRANCE]);
    expect(bundles[0].assignments[0].remainingQuantity).toBe(800_000_000);
    play({ iccid, used_mb: 900 });
    expect(bundles).toEqual((await get(`/esims/${iccid}/bundles`)).bundles);
    advance(7 * DAY);
    expect(await states(iccid)).toEqual(["expired", "expired"]);
  });

  test("an unlimited bundle is not used up", async () => {
    const { get, play, newEsim, states } = await openEsimgo();
    const iccid = await newEsim(UNLIMITED);
    play({ iccid, used_mb: 90_000 });
    play({ iccid, state: "used_up" });
    expect(await states(iccid)).toEqual(["active"]);
    expect((await get(`/esims/${iccid}/bundles`)).bundles[0].assignments[0]).toMatchObject({ unlimited: true });
  });

  test("what expires before its first use has lapsed", async () => {
    const { play, newEsim, states } = await openEsimgo();
    const [used, unused] = [await newEsim(), await newEsim()];
    play({ iccid: used, state: "in_use" });
    for (const iccid of [used, unused]) play({ iccid, state: "expired" });
    expect([await states(used), await states(unused)]).toEqual([["expired"], ["lapsed"]]);
  });

  test("history and location", async () => {
    const { get, send, play, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    expect((await send("GET", `/esims/${iccid}/location`)).status).toBe(400);
    play({ iccid, state: "in_use", used_mb: 600 });
    const names = (await get(`/esims/${iccid}/history`)).map((one: { name: string }) => one.name);
    expect(names).toEqual(["Bundle Applied", "eSIM First Attachment", "eSIM First Use", "eSIM Utilisation Alert"]);
    expect(await get(`/esims/${iccid}/location`)).toMatchObject({ country: "GB", networkName: "EE" });
  });

  test("suspension is 201, keeps bundles, and is not lifted where policy made it", async () => {
    const { get, send, play, newEsim, states } = await openEsimgo();
    const iccid = await newEsim();
    const suspend = (on: boolean) => send("POST", `/esims/${iccid}/suspend`, { suspend: on });
    expect(await suspend(true)).toMatchObject({ status: 201, json: { status: expect.any(String) } });
    expect(await get(`/esims/${iccid}/suspend`)).toEqual({ suspended: true });
    expect((await get(`/esims/${iccid}`)).state).toBe("suspended");
    expect(await states(iccid)).toEqual(["queued"]);
    expect((await suspend(false)).status).toBe(201);
    play({ iccid, state: "suspended" });
    expect((await suspend(false)).status).toBe(400);
    expect(await get(`/esims/${iccid}/suspend`)).toEqual({ suspended: true });
  });
});

describe("revoke and refund", () => {
  async function withBundle(options: EsimgoOptions) {
    const service = await openEsimgo(options);
    const iccid = await service.newEsim();
    const { bundles } = await service.get(`/esims/${iccid}/bundles`);
    const path = `/esims/${iccid}/bundles/${BRITAIN}`;
    return { ...service, iccid, path, one: `${path}/assignments/${bundles[0].assignments[0].id}` };
  }

  test("without refunds a revoke gives nothing back", async () => {
    const { send, one, states, iccid, provider, get } = await withBundle({});
    const check = await send("DELETE", `${one}?type=validate&refundToBalance=true`);
    expect(check.json).toEqual({ status: "Bundle can be revoked, no refund applicable" });
    expect(await states(iccid)).toEqual(["queued"]);
    const { json } = await send("DELETE", `${one}?refundToBalance=true`);
    expect(json).toEqual({ status: "Successfully Revoked Bundle, no refund applicable" });
    expect(await states(iccid)).toEqual(["revoked"]);
    expect(provider.state()).toEqual({ bought: 1, balance: "998.6000" });
    expect((await get("/inventory")).bundles).toEqual([]);
    expect((await send("DELETE", one)).status).toBe(400);
  });

  test("with them it goes to the balance or to the inventory", async () => {
    const { send, one, path, provider, newEsim, get } = await withBundle({ refunds: true });
    expect((await send("DELETE", `${path}?refundToBalance=true`)).status).toBe(400);
    const check = await send("DELETE", `${one}?type=validate&refundToBalance=true`);
    expect(check.json).toEqual({ status: "Bundle can be revoked, bundle will be refunded to balance" });
    await send("DELETE", `${one}?type=transaction&refundToBalance=true`);
    expect(provider.state()).toEqual({ bought: 0, balance: "1000.0000" });
    const other = await newEsim();
    const { json } = await send("DELETE", `/esims/${other}/bundles/${BRITAIN}`);
    expect(json).toEqual({ status: "Successfully Revoked Bundle, bundle has been refunded to inventory" });
    expect(provider.state()).toEqual({ bought: 1, balance: "998.6000" });
    expect((await get("/inventory")).bundles[0].available[0].remaining).toBe(1);
  });

  test("what was started, or bought 60 days ago, is not given back", async () => {
    const { send, play, one, iccid, provider, newEsim, get, advance } = await withBundle({ refunds: true });
    play({ iccid, state: "in_use" });
    await send("DELETE", `${one}?refundToBalance=true`);
    const late = await newEsim();
    advance(60 * DAY);
    await send("DELETE", `/esims/${late}/bundles/${BRITAIN}`);
    expect(provider.state()).toEqual({ bought: 2, balance: "997.2000" });
    expect((await get("/inventory")).bundles).toEqual([]);
  });

  test("inventory is refunded by its usage id, if refunds are on", async () => {
    const { buy, send, get, provider } = await openEsimgo({ refunds: true });
    await buy(BRITAIN, { quantity: 3 });
    await send("POST", "/esims/apply", { name: BRITAIN });
    const [{ id: usageId }] = (await get("/inventory")).bundles[0].available;
    const refund = (quantity: number) => send("POST", "/inventory/refund", { usageId, quantity });
    expect((await refund(3)).status).toBe(400);
    expect((await refund(2)).status).toBe(200);
    expect(provider.state()).toEqual({ bought: 1, balance: "998.6000" });
    expect((await refund(1)).status).toBe(400);
    const off = await openEsimgo();
    await off.buy(BRITAIN);
    const [{ id }] = (await off.get("/inventory")).bundles[0].available;
    expect((await off.send("POST", "/inventory/refund", { usageId: id, quantity: 1 })).status).toBe(400);
  });
});
