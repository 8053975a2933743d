import { expect, test } from "vitest";
import { auditOfPartner } from "../src/core/audit/list.ts";
import { requirePartner } from "../src/core/partners/partner.ts";
import { thresholdsOfPartner } from "../src/core/platform/partner-thresholds.ts";
import { person, startPages } from "./support/pages.ts";

const AT = "/console/partners/acme/thresholds";

test("thresholds are set by currency, percent and days, emptied, and put back to the default", async () => {
  const platform = await startPages();
  const { partnerId } = await platform.caller({ slug: "acme" });
  const admin = await person(platform, { role: "admin" });
  const now = () => platform.store.read(thresholdsOfPartner, partnerId);
  const usual = await now();
  const send = async (typed: Record<string, string>) => admin.send(await admin.get(AT), typed);
  expect((await admin.get("/console/partners/acme")).html).toContain(AT);

  const set = await send({ low_wallet: "1,250.50", currency: "aud" });
  expect([set.path, set.text]).toEqual([AT, expect.stringContaining("AUD1,250.50 AUD")]);
  await send({ low_wallet: "20", currency: "USD" });
  await send({ low_data: "90, 50", expiry_days: "" });
  expect(await now()).toEqual({ low_wallet: { AUD: 125_050, USD: 2_000 }, low_data: [50, 90], expiry_days: [] });
  await send({ low_wallet: "", currency: "AUD" });
  await send({ low_data: "default", expiry_days: "default" });
  // What is shown and left as it is stays the default.
  await send({ low_data: usual.low_data.join(", "), expiry_days: usual.expiry_days.join(",") });
  const row = await platform.store.read(requirePartner, "acme");
  expect([row.low_data, row.expiry_days]).toEqual([null, null]);
  expect(await now()).toEqual({ ...usual, low_wallet: { USD: 2_000 } });

  for (const [typed, words] of [
    [{ low_wallet: "1.234", currency: "AUD" }, "AUD has 2"],
    [{ low_wallet: "0", currency: "AUD" }, "must be more than zero"],
    [{ low_wallet: "5", currency: "MOON" }, "currency"],
    [{ low_data: "101", expiry_days: "3" }, "from 1 to 100"],
    [{ low_data: "half", expiry_days: "3" }, "must be whole numbers"],
  ] as const) {
    const refused = await send(typed);
    expect([refused.status, refused.text], words).toEqual([400, expect.stringContaining(words)]);
  }
  const actors = (await platform.store.read(auditOfPartner, { partnerId, limit: 5 })).map(({ actor }) => actor);
  expect(new Set(actors)).toEqual(new Set([`user:${admin.id}`]));
  expect((await (await person(platform, { role: "finance" })).get(AT)).status).toBe(403);
});
