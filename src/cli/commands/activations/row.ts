import { checkKyc } from "../../../core/activations/identity.ts";
import type { NewActivation } from "../../../core/activations/submit.ts";
import { kycFields } from "../../../core/carriers/carrier.ts";
import { isCivilDate } from "../../../core/kernel/calendar-day.ts";
import type { Checked } from "../../csv/import.ts";
import type { CsvRow } from "../../csv/open.ts";
import type { activationsCsv } from "../../csv/specs.ts";

type Row = CsvRow<(typeof activationsCsv)["columns"][number]>;

const yes = ["yes", "true", "1", "y"];
const no = ["", "no", "false", "0", "n"];

/**
 * What can be said of a line before it is sent: its shape. What its carrier needs, and what is there already, only the
 * API knows. `now` is in ms.
 */
export function checkActivationRow({ values }: Row, now: number): Checked<NewActivation> {
  const problems: string[] = [];
  if (!/^\d{13,20}$/.test(values.iccid)) problems.push("iccid must be 13-20 digits");
  if (!isCivilDate(values.activation_date)) problems.push("activation_date must be a real date as YYYY-MM-DD");
  const replaces = values.confirm_date_change.toLowerCase();
  if (![...yes, ...no].includes(replaces)) problems.push("confirm_date_change must be yes or no");
  const kyc = Object.fromEntries(kycFields.map((field) => [field, values[field]]));
  for (const [field, words] of Object.entries(checkKyc(kyc, now).errors)) problems.push(`${field} ${words.join(", ")}`);
  if (problems.length > 0) return { problems };
  const { iccid, activation_date } = values;
  const others = ["customer_email", "customer_phone", "plan_name", "note"] as const;
  const given = [...kycFields, ...others].flatMap((name) => (values[name] === "" ? [] : [[name, values[name]]]));
  const confirm_date_change = yes.includes(replaces);
  return { ok: { iccid, activation_date, ...Object.fromEntries(given), confirm_date_change } };
}
