import { describe, expect, test } from "vitest";
import { BRITAIN, openEsimgoAdapter } from "./support/providers/esimgo-adapter.ts";

describe("the catalog of eSIM Go", () => {
  test.each(["envelope", "array"] as const)("is read whole (%s)", async (catalogue) => {
    const go = await openEsimgoAdapter({ catalogue });
    const plans = (await go.provider.catalog()).plans;
    expect(plans).toHaveLength(16);
    expect(plans.find(({ plan }) => plan === BRITAIN)).toEqual({
      plan: BRITAIN,
      name: "eSIM, 1GB, 7 Days, United Kingdom, V2",
      cost: 14_000,
      currency: "USD",
      coverage: ["GB"],
      region: null,
      dataMb: 1_000,
      unlimited: false,
      validityDays: 7,
      daily: false,
      voice: false,
      speed: "2G/3G/4G/5G",
      networks: ["EE", "Vodafone UK"],
      activation: "with the first use of data",
      notes: [],
      topup: false,
    });
    const by = (plan: string) => plans.find((one) => one.plan === plan);
    expect(by("esim_1GB_7D_REUP_V2")).toMatchObject({ coverage: ["DE", "ES", "FR", "GB", "TR"], region: "Europe+" });
    expect(by("esim_3GB_30D_RASI_V2")).toMatchObject({ coverage: ["JP", "TH"], region: "Asia", dataMb: 3_000 });
    const lite = "unlimited; slowed to 512 kbit/s after the fair use of a day";
    expect(by("esim_UL_1D_TR_V2")).toMatchObject({ unlimited: true, dataMb: 0, notes: [lite] });
  });

  test("has pages as long as the provider makes them, fixed prices only, and voice", async () => {
    const row = { countries: [{ iso: "jp" }], duration: 1, price: "1.23455", billingType: "FixedCost" };
    const allowances = [
      { type: "DATA", service: "STANDARD", amount: 500, unit: "MB" },
      { type: "VOICE", description: "10 minutes", amount: 10, unit: "MINS" },
    ];
    const pages = [
      [{ ...row, name: "a", dataAmount: 9, allowances }],
      [{ name: "b", billingType: "Consumption" }],
      [{ ...row, name: "c", dataAmount: 9, roamingEnabled: null, speed: null, allowances: null }],
    ];
    const go = await openEsimgoAdapter({
      instead: ({ path, query }) => {
        if (path === "/networks") return { status: 400, body: { message: "not for this account" } };
        return path === "/catalogue" ? { status: 200, body: pages[Number(query.get("page")) - 1] ?? [] } : null;
      },
    });
    const plans = (await go.provider.catalog()).plans;
    expect(plans).toMatchObject([
      { plan: "a", name: "a", cost: 12_346, coverage: ["JP"], dataMb: 500, voice: true, notes: ["10 minutes"] },
      { plan: "c", dataMb: 9, voice: false, speed: null, networks: [], activation: null },
    ]);
  });

  test.each([
    ["countries is required", { price: 1, dataAmount: 1 }],
    ["price must be an amount of at least 0", { countries: [], price: -1, dataAmount: 1 }],
    ["its data is not stated in MB", { countries: [], price: 1 }],
  ])("names a bundle that cannot be read: %s", async (reason, given) => {
    const body = [{ name: "a", billingType: "FixedCost", description: "Moon", duration: 1, ...given }];
    const go = await openEsimgoAdapter({
      instead: ({ path, query }) => (path === "/catalogue" && query.get("page") === "2" ? { status: 200, body } : null),
    });
    const { plans, unread } = await go.provider.catalog();
    expect(plans).toHaveLength(16);
    expect(unread).toEqual([{ row: 17, plan: "a", name: "Moon", reason }]);
  });

  test.each([
    ["a name", [{ billingType: "FixedCost" }]],
    ["a page", { message: "none" }],
  ])("is not read in part: %s that is not understood", async (_, body) => {
    const go = await openEsimgoAdapter({
      instead: ({ path, query }) => (path === "/catalogue" && query.get("page") === "2" ? { status: 200, body } : null),
    });
    await expect(go.provider.catalog()).rejects.toMatchObject({ slug: "supplier_unreachable" });
  });
});
