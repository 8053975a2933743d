import type { Identity } from "../../../core/kernel/identity.ts";
import type { OperatorPassport } from "../../../core/passports/operator-view.ts";
import type { PassportPage } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { argument, flag } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import {
  findEverywhere,
  noSuchPassport,
  OPERATOR_PASSPORT_JSON,
  operatorFields,
  RECORDS_JSON,
  recordFields,
} from "./passport.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only. A reading on the operator's host is recorded in the audit trail.",
  json: `${RECORDS_JSON}; with --reveal {data: [${OPERATOR_PASSPORT_JSON} and the identity fields], count}`,
  examples: ["passports show 018159083 --partner acme", "passports show - --partner acme", "passports show - --reveal"],
  args: {
    number: argument(
      "number",
      "the passport number; with --reveal also an id; - reads it from standard input",
      "secret",
    ),
  },
  options: { reveal: flag("--reveal", "operators only: whole identity, verification and uses, over all partners") },
  async run(context, { number, reveal }) {
    const typed = await readSecretArgument(number, "Passport number:", context.globals);
    return reveal ? revealed(context, typed) : own(context, typed);
  },
});

async function own(context: Context, passport_no: string): Promise<Result> {
  const query = { passport_no };
  const answer = await context.withApi((api) => api.request<PassportPage>("GET", apiPath`/kyc/passports`, { query }));
  const { records } = answer.body;
  if (records.length === 0) throw noSuchPassport();
  const text = (sheet: Sheet) => records.map((record) => sheet.fields(recordFields(record))).join("\n\n");
  return { json: answer.body, text };
}

async function revealed(context: Context, typed: string): Promise<Result> {
  const { revealPassport } = await import("../../../core/passports/reveal.ts");
  const data = await context.withStore(async ({ store }) => {
    const found = await findEverywhere(store, typed);
    const whole: (OperatorPassport & Identity)[] = [];
    for (const passport of found) {
      const identity = await store.write(revealPassport, { id: passport.id, actor: OPERATOR });
      whole.push({ ...passport, ...identity.reveal() });
    }
    return whole;
  });
  const text = (sheet: Sheet) => data.map((one) => sheet.fields(wholeFields(sheet, one))).join("\n\n");
  return { json: { data, count: data.length }, text };
}

function wholeFields(sheet: Sheet, one: OperatorPassport & Identity): Record<string, string> {
  const { address, suburb, state, postcode } = one;
  return {
    number: shown(one.passport_no),
    born: one.date_of_birth,
    address: shown([address, suburb, state, postcode].filter(Boolean).join(", ")),
    ...operatorFields(sheet, one),
  };
}
