import { kycFields } from "../../../core/store/schema/values.ts";
import type { Activation } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { ICCID } from "../../client/identifiers.ts";
import { command } from "../../frame/command.ts";
import { clearedFields } from "../../kernel/cleared.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, text } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { recordResult } from "../../output/result.ts";

const clearable = [...kycFields, "customer_email", "customer_phone", "plan_name"] as const;

export default command({
  target: "partner",
  effects:
    "Corrects the identity of a request that was not picked up yet, with the checks of a submission. A passport " +
    "drawn from the pool goes back to it where another document replaces it.",
  json: "the API's body: the activation",
  examples: [
    "activations edit 8961032200826199583 --passport-no - --partner acme",
    "activations edit 019c… --last-name Underwood --partner acme",
  ],
  args: { id: argument("id", "the request's id, or the ICCID of an open one") },
  options: {
    first_name: text("--first-name <name>", "given names"),
    last_name: text("--last-name <name>", "family name"),
    title: text("--title <title>", "Mr, Ms, …"),
    date_of_birth: text("--date-of-birth <date>", "YYYY-MM-DD"),
    passport_no: text("--passport-no <number>", "the number; - reads it from standard input"),
    passport_country: text("--passport-country <country>", "the issuer, such as GBR"),
    passport_expiry: text("--passport-expiry <date>", "YYYY-MM-DD"),
    address: text("--address <address>", "street and number"),
    suburb: text("--suburb <suburb>", "suburb or town"),
    state: text("--state <state>", "state"),
    postcode: text("--postcode <postcode>", "postcode"),
    sim_last4: text("--sim-last4 <digits>", "the last 4 digits printed on the SIM"),
    puk: text("--puk <puk>", "its PUK; - reads it from standard input"),
    customer_email: text("--customer-email <address>", "the customer's e-mail address"),
    customer_phone: text("--customer-phone <number>", "the customer's telephone"),
    plan_name: text("--plan-name <name>", "the plan"),
    clear: text("--clear <fields>", `fields to empty, with commas between: ${clearable.join(", ")}`),
  },
  async run(context, { id, clear, passport_no, puk, ...fields }) {
    if (passport_no === "-" && puk === "-") {
      throw usageError("Standard input holds one value.", "Use - for --passport-no or for --puk.");
    }
    const cleared = clearedFields(clear, { clearable, set: { ...fields, passport_no, puk } });
    const secrets = {
      passport_no: passport_no && (await readSecretArgument(passport_no, "Number:", context.globals)),
      puk: puk && (await readSecretArgument(puk, "PUK:", context.globals)),
    };
    const given = Object.entries({ ...fields, ...secrets }).filter(([, value]) => value !== undefined);
    const body = { ...Object.fromEntries(given), ...cleared };
    if (Object.keys(body).length === 0) throw usageError("Nothing to change was given.", "Add a field, or --clear.");
    const path = ICCID.test(id) ? apiPath`/activations/by-iccid/${id}/identity` : apiPath`/activations/${id}/identity`;
    const edited = await context.withApi((api) => api.request<Activation>("PATCH", path, { body }));
    const { iccid, customer_name, activation_date } = edited.body;
    return recordResult(edited.body, () => ({ changed: edited.body.id, iccid, customer_name, activation_date }));
  },
});
