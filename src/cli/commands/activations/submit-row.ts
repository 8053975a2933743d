import { checkKyc, drawableFields, missingKyc } from "../../../core/activations/identity.ts";
import { type NewActivation, submitActivation, submitRefusals } from "../../../core/activations/submit.ts";
import { type Carrier, fittingCarrier } from "../../../core/carriers/carrier.ts";
import { isCivilDate } from "../../../core/kernel/calendar-day.ts";
import { type Checked, fieldSentences } from "../../../core/kernel/checked.ts";
import { Problem, type ProblemSlug } from "../../../core/kernel/problem.ts";
import { kycFields } from "../../../core/store/schema/values.ts";
import type { Activation, PageBody } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { RowOutcome } from "../../csv/import.ts";
import type { CsvRow } from "../../csv/open.ts";
import type { activationsCsv } from "../../csv/specs.ts";
import { CliError } from "../../kernel/errors.ts";
import { problemFailure } from "../../kernel/failure.ts";
import { OPERATOR } from "../../place/operator.ts";

type Row = CsvRow<(typeof activationsCsv)["columns"][number]>;

const yes = ["yes", "true", "1", "y"];
const no = ["", "no", "false", "0", "n"];

/** What lines are checked against: the time (ms), and the carriers where they are known (not at a server). */
interface Circumstances {
  now: number;
  carriers: readonly Carrier[] | null;
  /** Whether a line may draw its passport from the pool: the operator's only. */
  draws: boolean;
}

const NO_DRAW = "passport_no is required; lines that draw from the pool are for the operator";

/** Checks a line before it is sent: its fields, and what its carrier requires. */
export function checkActivationRow({ values }: Row, { now, carriers, draws }: Circumstances): Checked<NewActivation> {
  const problems: string[] = [];
  if (!/^\d{13,20}$/.test(values.iccid)) problems.push("iccid must be 13-20 digits");
  if (!isCivilDate(values.activation_date)) problems.push("activation_date must be a real date as YYYY-MM-DD");
  if (values.passport_no === "" && !draws) problems.push(NO_DRAW);
  const replaces = values.confirm_date_change.toLowerCase();
  if (![...yes, ...no].includes(replaces)) problems.push("confirm_date_change must be yes or no");
  const { fields, errors } = checkKyc(Object.fromEntries(kycFields.map((field) => [field, values[field]])), now);
  problems.push(...fieldSentences(errors));
  if (problems.length === 0 && carriers !== null) problems.push(...carrierProblems(values, fields, carriers));
  if (problems.length > 0) return { problems };
  const { iccid, activation_date } = values;
  const others = ["customer_email", "customer_phone", "plan_name", "note"] as const;
  const given = [...kycFields, ...others].flatMap((name) => (values[name] === "" ? [] : [[name, values[name]]]));
  const confirm_date_change = yes.includes(replaces);
  return { ok: { iccid, activation_date, ...Object.fromEntries(given), confirm_date_change } };
}

/** The carrier's objections to a line; the pool fills missing fields of a line that draws from it. */
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

interface Asked {
  /** Also requests that were cancelled or failed for the same date. */
  again: boolean;
}

/** Problems of a single line (also a pool without a passport for it); any other ends the run. */
const ofTheLine: readonly string[] = [...submitRefusals, "conflict"] satisfies ProblemSlug[];

/** Submits lines one after the other: a file may name a SIM twice, and the later line is checked after the earlier. */
export async function submitRows(api: Api, requests: readonly NewActivation[], asked: Asked): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (const request of requests) outcomes.push(await submitRow(api, request, asked));
  return outcomes;
}

async function submitRow(api: Api, request: NewActivation, { again }: Asked): Promise<RowOutcome> {
  const query = { iccid: request.iccid, limit: 100 };
  const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
  const before = body.data.filter((one) => one.activation_date === request.activation_date);
  if (before.some(isHeld)) return "duplicate";
  const ended = before[0];
  if (ended !== undefined && !again) {
    return { rejected: `was ${ended.status} for this date before; --again submits it again` };
  }
  return outcomeOf(request.passport_no ? post(api, request) : drawFor(api, request));
}

/** Whether a request still holds its ICCID: open, completed, or left to staff. */
function isHeld({ status, processing_status }: Activation): boolean {
  return (status !== "cancelled" && status !== "failed") || processing_status === "manual_required";
}

async function post(api: Api, body: NewActivation): Promise<void> {
  await api.request("POST", apiPath`/activations`, { body });
}

/** Drawing from the pool is the operator's: it does not go over the API. */
async function drawFor({ local }: Api, request: NewActivation): Promise<void> {
  if (local === undefined) {
    throw new Error("a line that draws from the pool was let through to a server");
  }
  const { store, partnerId, environment } = local;
  await store.write(submitActivation, { partnerId, environment, request, actor: OPERATOR, draw: true });
}

async function outcomeOf(work: Promise<void>): Promise<RowOutcome> {
  try {
    await work;
    return "imported";
  } catch (error) {
    const failure = error instanceof Problem ? problemFailure(error.slug, error.message, error) : error;
    const known = failure instanceof CliError || error instanceof Problem ? failure : null;
    if (known === null || !isOfTheLine(known)) throw error;
    return { rejected: known.message };
  }
}

function isOfTheLine(failure: unknown): failure is { code: string; message: string } {
  const code: unknown = typeof failure === "object" && failure !== null ? Reflect.get(failure, "code") : undefined;
  return typeof code === "string" && ofTheLine.includes(code);
}
