import { checkKyc, missingKyc } from "../../../core/activations/identity.ts";
import { drawableFields } from "../../../core/activations/pool.ts";
import type { NewActivation } from "../../../core/activations/submit.ts";
import { type Carrier, fittingCarrier, kycFields } from "../../../core/carriers/carrier.ts";
import { isCivilDate } from "../../../core/kernel/calendar-day.ts";
import type { Checked } from "../../csv/import.ts";
import type { CsvRow } from "../../csv/open.ts";
import type { activationsCsv } from "../../csv/specs.ts";

type Row = CsvRow<(typeof activationsCsv)["columns"][number]>;

const yes = ["yes", "true", "1", "y"];
const no = ["", "no", "false", "0", "n"];

/** What lines are checked against: the time (ms), and the carriers where they are known (not at a server). */
export interface Circumstances {
  now: number;
  carriers: readonly Carrier[] | null;
  /** Whether a line may draw its passport from the pool: the operator's only. */
  draws: boolean;
}

const NO_DRAW = "passport_no is required; lines that draw from the pool are for the operator";

/** What can be said of a line before it is sent: its shape, and what its carrier needs. */
export function checkActivationRow({ values }: Row, { now, carriers, draws }: Circumstances): Checked<NewActivation> {
  const problems: string[] = [];
  if (!/^\d{13,20}$/.test(values.iccid)) problems.push("iccid must be 13-20 digits");
  if (!isCivilDate(values.activation_date)) problems.push("activation_date must be a real date as YYYY-MM-DD");
  if (values.passport_no === "" && !draws) problems.push(NO_DRAW);
  const replaces = values.confirm_date_change.toLowerCase();
  if (![...yes, ...no].includes(replaces)) problems.push("confirm_date_change must be yes or no");
  const { fields, errors } = checkKyc(Object.fromEntries(kycFields.map((field) => [field, values[field]])), now);
  for (const [field, words] of Object.entries(errors)) problems.push(`${field} ${words.join(", ")}`);
  if (problems.length === 0 && carriers !== null) problems.push(...carrierProblems(values, fields, carriers));
  if (problems.length > 0) return { problems };
  const { iccid, activation_date } = values;
  const others = ["customer_email", "customer_phone", "plan_name", "note"] as const;
  const given = [...kycFields, ...others].flatMap((name) => (values[name] === "" ? [] : [[name, values[name]]]));
  const confirm_date_change = yes.includes(replaces);
  return { ok: { iccid, activation_date, ...Object.fromEntries(given), confirm_date_change } };
}

/** What a line's carrier has against it; a line that draws from the pool gets there what it lacks. */
function carrierProblems(
  { iccid, passport_no }: Pick<Row["values"], "iccid" | "passport_no">,
  fields: ReturnType<typeof checkKyc>["fields"],
  carriers: readonly Carrier[],
): string[] {
  const carrier = fittingCarrier(carriers, iccid);
  if (carrier === undefined) return ["no supported carrier issues ICCIDs that begin like this one"];
  const missing = missingKyc(carrier, passport_no === "" ? { ...drawableFields, ...fields } : fields);
  return missing.length === 0 ? [] : [`${carrier.name} also needs: ${missing.join(", ")}`];
}
