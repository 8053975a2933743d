import { isCivilDate } from "../../../core/kernel/calendar-day.ts";
import type { Product } from "../../client/answers.ts";
import type { Context } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { type Option, text } from "../../kernel/input.ts";
import { text as ask, isInteractive } from "../../output/prompts.ts";
import { isScheduled } from "./forecast.ts";

/** Who travels with a unit that is delivered on a day. */
export const travelerOptions = {
  email: checked("--email <address>", "the traveler's e-mail address", /^[^\s@]+@[^\s@]+$/, "an e-mail address"),
  name: text("--name <name>", "the traveler's name"),
  date: day("--date <date>", "the day of activation, YYYY-MM-DD in --timezone"),
  eid: checked("--eid <digits>", "the device's EID, for products pushed to it", /^\d{32}$/, "32 digits"),
  timezone: text("--timezone <zone>", "where the day is, e.g. Australia/Sydney (default UTC)"),
};

type Traveler = { [O in keyof typeof travelerOptions]: string | undefined };

/** An option whose text has one form. */
function checked(flags: string, help: string, form: RegExp, words: string): Option<string | undefined> {
  const plain = text(flags, help);
  const read = (given: unknown) => {
    const value = plain.read(given);
    if (value === undefined || form.test(value)) return value;
    throw usageError(`${flags} must be ${words}.`, "Correct it.");
  };
  return { ...plain, read };
}

function day(flags: string, help: string): Option<string | undefined> {
  const plain = text(flags, help);
  const read = (given: unknown) => {
    const value = plain.read(given);
    if (value === undefined || isCivilDate(value)) return value;
    throw usageError(`${flags} must be a real day as YYYY-MM-DD.`, "Correct the date.");
  };
  return { ...plain, read };
}

/** One unit's request, as the API takes it. */
interface ActivationRequest {
  product_id: string;
  customer_email: string;
  customer_name: string;
  activation_date: string;
  eid_number?: string;
  timezone?: string;
}

interface Wanted {
  /** Null: nothing is known of it, and the API says what is missing. */
  product: Product | null;
  count: number;
  traveler: Traveler;
}

/**
 * The travelers of an order, one for each unit of a product that is delivered on a day. What is missing is asked for
 * at a terminal. Throws a usage error where it cannot be, for a product without travelers, and for several units
 * whose travelers would all be the one that the options name.
 */
export async function travelersFor(
  context: Context,
  { product, count, traveler }: Wanted,
): Promise<{ requests: ActivationRequest[]; asked: boolean }> {
  const given = Object.entries(traveler).filter(([, value]) => value !== undefined);
  if (product === null) return { requests: [], asked: false };
  if (!isScheduled(product)) {
    if (given.length === 0) return { requests: [], asked: false };
    throw usageError(`${product.sku} is not delivered on a day: --${given[0]?.[0]} does not apply.`, "Leave it out.");
  }
  if (count > 1 && given.length > 0) {
    const hint = "Order one unit for each traveler, or give them in a JSON file: esimctl orders bulk --help.";
    throw usageError(`The options name one traveler, and ${count} units need ${count}.`, hint);
  }
  const requests: ActivationRequest[] = [];
  let asked = false;
  for (let unit = 1; unit <= count; unit++) {
    const found = await completed(context, product, traveler, count === 1 ? "" : ` ${unit} of ${count}`);
    requests.push(found.request);
    asked ||= found.asked;
  }
  return { requests, asked };
}

const needed = [
  ["name", "Name of the traveler"],
  ["email", "E-mail address"],
  ["date", "Day of activation (YYYY-MM-DD)"],
  ["eid", "EID of the device"],
] as const;

async function completed({ globals }: Context, product: Product, traveler: Traveler, which: string) {
  const filled = { ...traveler };
  const wanted = needed.filter(([field]) => field !== "eid" || product.delivery_method === "eid_push");
  const missing = wanted.filter(([field]) => filled[field] === undefined);
  const [first] = missing;
  if (first !== undefined && !isInteractive(globals)) {
    const flags = missing.map(([field]) => `--${field}`).join(", ");
    throw usageError(`${product.sku} is delivered on a day to a traveler: ${flags} missing.`, `Add ${flags}.`);
  }
  for (const [field, words] of missing) {
    const check = (typed: string) => travelerOptions[field].read(typed);
    filled[field] = await ask(`${words}${which}:`, `--${field}`, globals, { check });
  }
  const { name = "", email = "", date = "", eid, timezone } = filled;
  const request: ActivationRequest = {
    product_id: product.id,
    customer_email: email,
    customer_name: name,
    activation_date: date,
    ...(eid === undefined ? {} : { eid_number: eid }),
    ...(timezone === undefined ? {} : { timezone }),
  };
  return { request, asked: missing.length > 0 };
}
