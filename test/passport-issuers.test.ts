import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { showPassport } from "../src/core/passports/operator-view.ts";
import { newData } from "./support/installation.ts";
import { importRecords, passport, withAgent } from "./support/passports.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctlJson } from "./support/warm.ts";

const POOL = "/api/v1/kyc/passports";

const issuers: Record<string, string[]> = {
  DEU: ["D", "D<<", "DE", "deu", "Germany"],
  GBR: ["GBR", "UK", "gb", "United Kingdom", "Great Britain"],
  RKS: ["Kosovo", "XK", "XKX", "XKK", "RKS"],
  KOR: ["South Korea", "Korea, Republic of", "Republic of Korea"],
  VNM: ["Viet Nam", "Vietnam"],
  ...Object.fromEntries(
    ["GBD", "GBO", "GBP", "GBS", "XXA", "XXC", "UNO", "UNA", "XPO", "XOM", "EUE"].map((code) => [code, [code]]),
  ),
};

test("an issuer is read by its code of ICAO 9303 or ISO 3166-1 or its name, and kept as one code", async () => {
  const { agent, store } = await withAgent();
  const written = Object.entries(issuers).flatMap(([code, texts]) => texts.map((text) => ({ code, text })));
  const records = written.map(({ text }) => passport({ passport_country: text }));
  const ids = await importRecords(agent, records);
  const shown = await Promise.all(ids.map((id) => store.read(showPassport, id)));
  expect(shown.map(({ passport_country }, at) => [written[at]?.text, passport_country])).toEqual(
    written.map(({ code, text }) => [text, code]),
  );
});

test("a name of two countries and a near miss are refused with what they may be", async () => {
  const { agent } = await withAgent();
  const refused = async (passport_country: string) => {
    const { status, body } = await agent.send("POST", POOL, { records: [passport({ passport_country })] });
    return [status, Object(body).errors?.["records.0.passport_country"]?.[0]];
  };
  expect(await refused("Korea")).toEqual([400, "names several countries: give KOR (South Korea) or PRK (North Korea)"]);
  expect(await refused("Congo")).toEqual([400, expect.stringContaining("COG (Congo - Brazzaville) or COD")]);
  expect(await refused("Grmany")).toEqual([400, expect.stringContaining("(did you mean Germany?)")]);
  expect(await refused("QQQ")).toEqual([400, expect.stringContaining("must be an ISO 3166-1 country code")]);
});

test("a document is one whatever the spelling of its issuer and number", async () => {
  const { agent } = await withAgent();
  const known = passport({ passport_country: "D", passport_no: "C01X00T51<<<<" });
  await importRecords(agent, [known]);
  const { body } = await agent.send("POST", POOL, {
    records: [{ ...known, passport_country: "Germany", passport_no: "C01X00T51" }],
  });
  expect(body).toMatchObject({ imported: 0, skipped_duplicates: 1 });
});

test("a file takes issuers as they are written in the field", async () => {
  const data = await newData();
  const file = join(temporaryDirectory(), "people.csv");
  const head = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
  const countries = ["Germany", "United Kingdom", "D", "GBR", "UK"];
  const rows = countries.map((country, at) => `Zoe,Quennell,1964-12-31,34207509${at},${country},2034-01-01`);
  writeFileSync(file, [head, ...rows].join("\n"));
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--agent", "--data", data]);
  const args = ["passports", "import", file, "--partner", "acme", "--sandbox", "--data", data];
  expect(await esimctlJson(args)).toMatchObject({ read: 5, imported: 5, rejected: 0 });
});
