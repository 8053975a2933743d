import { describe, expect, test } from "vitest";
import type { Verdict } from "../src/core/after-sale/diagnose.ts";
import { diagnoseEsims } from "../src/daemon/gateways/suppliers/diagnose.ts";
import { giveBack } from "../src/daemon/gateways/suppliers/give-back.ts";
import { simulateAiralo } from "../src/daemon/simulators/airalo.ts";
import { simulateEsimaccess } from "../src/daemon/simulators/esimaccess.ts";
import { simulateEsimgo } from "../src/daemon/simulators/esimgo.ts";
import type { PlayedEsim, SimulatedProvider } from "../src/daemon/simulators/provider.ts";
import { deskOf } from "./support/desk.ts";
import { deliverEsim } from "./support/esims.ts";
import { startProviderShop } from "./support/providers/shop.ts";

const offers = {
  esimaccess: { plan: "CJP101", cost: 7_000 },
  airalo: { plan: "hinode-7days-1gb", cost: 36_000 },
  esimgo: { plan: "esim_1GB_7D_GB_V2", cost: 22_800 },
};
type Name = keyof typeof offers;

const doubles: Readonly<Record<Name, () => SimulatedProvider>> = {
  esimaccess: () => simulateEsimaccess({ perSecond: 1_000 }),
  airalo: simulateAiralo,
  esimgo: () => simulateEsimgo(),
};

type Steps = Omit<PlayedEsim, "iccid">[];
const use = (used_mb: number): Steps[number] => ({ state: "in_use", used_mb });

/** What a phone did, and what is found then. Airalo shows use alone. */
const situations: [situation: string, steps: Steps, installed: Verdict, airalo: Verdict][] = [
  ["just sold", [], "never_downloaded", "unknown"],
  ["installed", [{ state: "installed" }], "installed_not_enabled", "unknown"],
  ["switched on, no network yet", [{ state: "enabled" }], "ok", "unknown"],
  ["switched on and off again", [{ state: "enabled" }, { state: "installed" }], "installed_not_enabled", "unknown"],
  ["in a network, nothing used", [{ state: "in_use" }], "ok", "ok"],
  ["a little used", [use(10)], "ok", "ok"],
  ["half used", [use(512)], "ok", "ok"],
  ["nearly used up", [use(950)], "ok", "ok"],
  ["used up", [{ state: "used_up" }], "used_up", "used_up"],
  ["used up, then switched off", [{ state: "used_up" }, { state: "installed" }], "used_up", "used_up"],
  ["used up by reports alone", [use(10), { used_mb: 1_024 }], "used_up", "used_up"],
  ["expired after use", [use(100), { state: "expired" }], "expired", "expired"],
  // Airalo shows what is finished as that, to its end.
  ["expired after all was used", [{ state: "used_up" }, { state: "expired" }], "expired", "used_up"],
  ["suspended unused", [{ state: "suspended" }], "suspended", "unknown"],
  ["suspended in use", [use(100), { state: "suspended" }], "suspended", "unknown"],
  ["suspended and resumed", [use(100), { state: "suspended" }, { state: "in_use" }], "ok", "ok"],
  ["removed unused", [{ state: "installed" }, { state: "deleted" }], "unknown", "unknown"],
];

/** A shop of a provider with as many sold eSIMs as are asked for. */
async function sold(name: Name, quantity: number, start?: string) {
  const options = start === undefined ? {} : { start };
  const shop = await startProviderShop(doubles[name](), { ...offers[name], ...options });
  const iccids = await shop.buyEach(quantity);
  return {
    ...shop,
    iccids,
    async diagnose(iccid: string) {
      // Looks take of the provider's limits, whose clock moves only here.
      shop.clock.advance(2_000);
      const [found] = await diagnoseEsims(shop, [await shop.row(iccid)]);
      if (found === undefined) throw new Error("nothing was found");
      return found;
    },
  };
}

describe.each(["esimaccess", "airalo", "esimgo"] as const)("at %s", (name) => {
  test("what a phone did is found", async () => {
    const shop = await sold(name, situations.length);
    const found: [string, Verdict][] = [];
    for (const [at, [situation, steps]] of situations.entries()) {
      const iccid = shop.iccids[at] ?? "";
      for (const step of steps) await shop.provider.phone({ iccid, ...step });
      found.push([situation, (await shop.diagnose(iccid)).verdict]);
    }
    const expected = situations.map(([situation, , installed, airalo]) => [
      situation,
      name === "airalo" ? airalo : installed,
    ]);
    expect(found).toEqual(expected);
  });

  test("without an answer of the provider, what is stored counts", async () => {
    const shop = await sold(name, 3);
    const [used = "", fresh = "", gone = ""] = shop.iccids;
    await shop.provider.phone({ iccid: used, state: "in_use", used_mb: 200 });
    await shop.provider.phone({ iccid: gone, state: "expired" });
    shop.clock.advance(3_600_000);
    await shop.look();
    await shop.provider.close();
    const verdicts = [await shop.diagnose(used), await shop.diagnose(fresh), await shop.diagnose(gone)];
    const stored = name === "airalo" ? "unknown" : "never_downloaded";
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["ok", stored, "expired"]);
    for (const { evidence } of verdicts) {
      expect(evidence).toContainEqual(expect.stringMatching(/^skyline: gave no usable answer .* is older$/));
    }
  });
});

test("evidence says what is known, and by whom, and the message is for the traveler", async () => {
  const shop = await sold("esimaccess", 2);
  const [iccid = ""] = shop.iccids;
  await shop.provider.phone({ iccid, state: "in_use", used_mb: 300 });
  const { verdict, evidence, message } = await shop.diagnose(iccid);
  expect(verdict).toBe("ok");
  expect(evidence).toEqual([
    "here: inactive, never active",
    "skyline shows: active",
    "installation: installed and switched on",
    expect.stringMatching(/^data: 300 of 1024 MB used, as of 2026-03-02T/),
    expect.stringMatching(/^valid until 2026-03-09T/),
  ]);
  expect(message).toMatch(/data roaming/);
  // It only looked.
  expect(await shop.row(iccid)).toMatchObject({ status: "inactive", used_mb: null });
});

test("Airalo's evidence says that the installation is not known here", async () => {
  const shop = await sold("airalo", 1);
  const found = await shop.diagnose(shop.iccids[0] ?? "");
  expect(found.evidence).toContain("installation: not known here: skyline has not shown it");
});

test("an eSIM that was canceled past this program is not taken for one that can be installed", async () => {
  const shop = await sold("esimaccess", 1);
  const [iccid = ""] = shop.iccids;
  const { supplier_ref: reference } = await shop.row(iccid);
  expect(await (await shop.api()).refund({ iccid, reference })).toMatchObject({ outcome: "done" });
  expect(await shop.diagnose(iccid)).toMatchObject({ verdict: "unknown" });
});

test("an eSIM that lapsed unused, and one that was given back, are expired", async () => {
  const shop = await sold("esimaccess", 2);
  const [back = "", lapsed = ""] = shop.iccids;
  const { id } = await shop.row(back);
  await giveBack(shop, { id, kind: "refund", actor: "test" });
  const repaid = await shop.diagnose(back);
  expect(repaid).toMatchObject({ verdict: "expired", message: expect.stringMatching(/given back/) });
  expect(repaid.evidence).toContain("it was given back, and its price repaid");
  shop.clock.advance(181 * 86_400_000);
  expect(await shop.diagnose(lapsed)).toMatchObject({ verdict: "expired" });
});

test("the command diagnoses an eSIM, or each of an order, also from stock", async () => {
  const shop = await sold("esimaccess", 0, new Date().toISOString());
  const { order, iccids } = await shop.buy(3);
  const [iccid = "", other = ""] = iccids;
  const desk = deskOf(shop);
  const found = { iccid, verdict: "never_downloaded", evidence: expect.any(Array), message: expect.any(String) };
  expect(await desk.json(`esims diagnose ${iccid}`)).toEqual(found);
  await shop.provider.phone({ iccid: other, state: "used_up" });
  const all = await desk.json(`esims diagnose ${order}`);
  expect(all.count).toBe(3);
  expect(all.data.find((one: { iccid: string }) => one.iccid === other)).toMatchObject({ verdict: "used_up" });
  const stocked = "8944590004463637008";
  await deliverEsim(shop, shop.buyer, { sku: "EU5", product: await shop.addStocked(), iccid: stocked });
  const { verdict, evidence } = await desk.json(`esims diagnose ${stocked}`);
  expect(verdict).toBe("unknown");
  expect(evidence).toEqual([
    "here: inactive, never active",
    "the stock: shows nothing of its eSIMs",
    "installation: not known here",
    "data: use was never reported",
  ]);
  expect(await desk.refusal("esims diagnose 8944590004463639999")).toMatchObject({ exitCode: 1, code: "not_found" });
});
