import { describe, expect, test } from "vitest";
import { importRecords, passport, withAgent } from "./support/passports.ts";

const POOL = "/api/v1/kyc/passports";

async function refusals() {
  const { agent, clock } = await withAgent();
  const year = new Date(clock.now()).getUTCFullYear();
  const of = async (fields: Record<string, unknown>) => {
    const { status, body } = await agent.send("POST", POOL, { records: [passport(fields)] });
    const [field = ""] = Object.keys(fields);
    return [status, Object(body).errors?.[`records.0.${field}`]?.[0] ?? null];
  };
  return { agent, year, of };
}

describe("years", () => {
  test("that cannot be are refused with the guess", async () => {
    const { year, of } = await refusals();
    expect(await of({ passport_expiry: "2574-02-14" })).toEqual([
      ...[400, "is over 30 years ahead (Buddhist year? 2574 is 2031)"],
    ]);
    expect(await of({ passport_expiry: `${year + 31}-01-01` })).toEqual([400, "is over 30 years ahead"]);
    expect(await of({ passport_expiry: "0031-01-01" })).toEqual([400, expect.stringContaining("(did you mean 2031?)")]);
    expect(await of({ date_of_birth: "2510-03-13" })).toEqual([
      ...[400, "must be in the past (Buddhist year? 2510 is 1967)"],
    ]);
    expect(await of({ date_of_birth: `${year - 131}-12-31` })).toEqual([400, "is over 130 years ago"]);
    expect(await of({ date_of_birth: "0075-03-13" })).toEqual([400, expect.stringContaining("(did you mean 1975?)")]);
  });

  test("at the edge are taken", async () => {
    const { agent, year } = await refusals();
    await importRecords(agent, [
      passport({ date_of_birth: `${year - 129}-01-01`, passport_expiry: `${year + 29}-12-31` }),
    ]);
  });
});

describe("texts", () => {
  test("that were read in another encoding, and spreadsheet errors, are refused", async () => {
    const { of } = await refusals();
    for (const name of ["Jos\ufffd", "JosÃ©", "Jos\u0082", "Jos‚", "MÅ‚oda", "ƒ^ƒi", "Ð˜Ð²Ð°Ð½", "Oâ€™Brien"]) {
      expect(await of({ first_name: name }), name).toEqual([400, expect.stringContaining("cp850, mac or shift-jis?")]);
    }
    for (const error of ["#N/A", "#REF!", "#name?"]) {
      expect(await of({ last_name: error })).toEqual([400, expect.stringContaining("is a spreadsheet's error")]);
    }
    for (const number of ["NULL", "N/A", "none"]) {
      expect(await of({ passport_no: number }), number).toEqual([400, expect.stringContaining("no document number")]);
    }
  });

  test("of the world's names are taken", async () => {
    const { agent } = await refusals();
    const names = [
      "José",
      "Mª Carmen",
      "Łukasz",
      "O’Brien",
      "Ngũgĩ",
      "Иван",
      "渡辺",
      "Gal·la",
      "Ærø",
      "Ñandú",
      "Zoë-Ann",
    ];
    await importRecords(agent, [...names.map((first_name) => passport({ first_name })), passport({ last_name: "-" })]);
  });
});
