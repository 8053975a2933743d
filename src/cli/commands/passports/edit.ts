import { optionalFields } from "../../../core/kernel/identity-fields.ts";
import type { PassportEdited } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { clearedFields } from "../../kernel/cleared.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, text } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { recordResult } from "../../output/result.ts";

export default command({
  target: "partner",
  effects: "Changes the fields given. Another number, name, date of birth or expiry must be verified again.",
  json: "the API's body: {ok, id}",
  examples: [
    "passports edit 019c… --partner acme --passport-expiry 2034-02-14",
    "passports edit 019c… --partner acme --clear address,suburb",
  ],
  args: { id: argument("id", "the record's id") },
  options: {
    first_name: text("--first-name <name>", "given names"),
    last_name: text("--last-name <name>", "family name"),
    title: text("--title <title>", "Mr, Ms, …"),
    date_of_birth: text("--date-of-birth <date>", "YYYY-MM-DD"),
    passport_no: text("--passport-no <number>", "the number; - reads it from standard input"),
    passport_country: text("--passport-country <code>", "ISO 3166-1 code"),
    passport_expiry: text("--passport-expiry <date>", "YYYY-MM-DD"),
    address: text("--address <address>", "street and number"),
    suburb: text("--suburb <suburb>", "suburb or town"),
    state: text("--state <state>", "state"),
    postcode: text("--postcode <postcode>", "postcode"),
    reference: text("--reference <text>", "your own note of it"),
    clear: text("--clear <fields>", `fields to empty, with commas between: ${optionalFields.join(", ")}`),
  },
  async run(context, { id, clear, passport_no, ...fields }) {
    const cleared = clearedFields(clear, { clearable: optionalFields, set: fields });
    const number =
      passport_no === undefined
        ? {}
        : { passport_no: await readSecretArgument(passport_no, "Number:", context.globals) };
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const change = { ...given, ...number, ...cleared };
    if (Object.keys(change).length === 0) throw usageError("Nothing to change was given.", "Add a field, or --clear.");
    const { body } = await context.withApi((api) =>
      api.request<PassportEdited>("PATCH", apiPath`/kyc/passports/${id}`, { body: change }),
    );
    return recordResult(body, () => ({ changed: body.id }));
  },
});
