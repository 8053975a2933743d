import { checkActivationDate } from "../../../core/activations/calendar.ts";
import { checkKyc, drawableFields, missingKyc } from "../../../core/activations/identity.ts";
import { expiryErrors, type NewActivation, submitRefusals } from "../../../core/activations/submit.ts";
import { isDrawn, isHeld } from "../../../core/activations/submit-line.ts";
import { type Carrier, fittingCarrier } from "../../../core/carriers/carrier.ts";
import type { CheckedRow, CsvRow } from "../../../core/csv/rows.ts";
import { fieldSentences } from "../../../core/kernel/checked.ts";
import { civilDateAt } from "../../../core/kernel/civil-date.ts";
import { dateFault } from "../../../core/kernel/dated.ts";
import { iccidDoubts, iccidFault } from "../../../core/kernel/iccid.ts";
import { nameDoubts } from "../../../core/kernel/name-doubts.ts";
import type { ProblemSlug } from "../../../core/kernel/problem.ts";
import { kycFields } from "../../../core/store/schema/values.ts";
import { refusalsOf } from "../../bulk/refusals.ts";
import type { Activation, ActivationBulkSubmitted, PageBody } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { PartlySent, type RowOutcome } from "../../csv/import.ts";
import type { activationsCsv } from "../../csv/specs.ts";
import { CliError } from "../../kernel/errors.ts";

type Row = CsvRow<(typeof activationsCsv)["columns"][number]>;

const yes = ["yes", "true", "1", "y"];
const no = ["", "no", "false", "0", "n"];

/** What lines are checked against: the time (ms), and the carriers where they are known (not at a server). */
interface Circumstances {
  now: number;
  /** Reads a request as the API does. Throws `validation`. */
  read: (sent: unknown) => unknown;
  carriers: readonly Carrier[] | null;
}

/** Checks a line before it is sent: its fields, and what its carrier requires. */
export function checkActivationRow({ values }: Row, { now, read, carriers }: Circumstances): CheckedRow<NewActivation> {
  const problems: string[] = [];
  const fault = iccidFault(values.iccid, { least: 13 });
  if (fault !== null) problems.push(`iccid ${fault}`);
  const noDate = dateFault(values.activation_date);
  if (noDate !== null) problems.push(`activation_date ${noDate}`);
  const replaces = values.confirm_date_change.toLowerCase();
  if (![...yes, ...no].includes(replaces)) problems.push("confirm_date_change must be yes or no");
  const { fields, errors } = checkKyc(Object.fromEntries(kycFields.map((field) => [field, values[field]])), now);
  problems.push(...fieldSentences(errors));
  const { iccid, activation_date } = values;
  if (problems.length === 0) {
    if (carriers !== null) problems.push(...carrierProblems(values, fields, carriers));
    problems.push(...fieldSentences(expiryErrors(fields.passport_expiry ?? null, activation_date) ?? {}));
  }
  const others = ["customer_email", "customer_phone", "plan_name", "note"] as const;
  const given = [...kycFields, ...others].flatMap((name) => (values[name] === "" ? [] : [[name, values[name]]]));
  const confirm_date_change = yes.includes(replaces);
  const ok = { iccid, activation_date, ...Object.fromEntries(given), confirm_date_change };
  // The API would say the same of all fields: what is known to be wrong is said once.
  if (problems.length === 0) problems.push(...refusalsOf(() => read(ok)));
  if (problems.length > 0) return { problems };
  // A line that was submitted before its day is a duplicate on a later run: only the server knows.
  const past = refusalsOf(() => checkActivationDate(activation_date, now, null)).map(
    (fault) => `activation_date ${fault}`,
  );
  return { ok, warnings: [...past, ...doubtsOf(values, now)] };
}

/** Years from now after which an activation is doubtful. */
const FAR_YEARS = 2;

/** What is doubtful about a line that the API takes. */
function doubtsOf(values: Row["values"], now: number): string[] {
  const { iccid, sim_last4, puk, activation_date } = values;
  const [year = 0, ...day] = civilDateAt(now).split("-");
  const far = [Number(year) + FAR_YEARS, ...day].join("-");
  return [
    ...iccidDoubts(iccid).map((doubt) => `iccid ${doubt}`),
    ...(sim_last4 !== "" && !iccid.endsWith(sim_last4) ? ["sim_last4 is not the end of the iccid"] : []),
    ...(puk !== "" && !/^\d{8}$/.test(puk) ? [pukDoubt(puk)] : []),
    ...nameDoubts(values),
    ...(activation_date > far ? [`activation_date is more than ${FAR_YEARS} years ahead`] : []),
  ];
}

function pukDoubt(puk: string): string {
  if (/^\d{7}$/.test(puk)) return "puk has 7 digits of 8: a spreadsheet may have dropped a zero in front";
  return "puk is not 8 digits";
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

interface SubmitOptions {
  /** Also requests that were cancelled or failed for the same date. */
  again: boolean;
}

/** Problems of a single line; any other ends the run. */
const ofTheLine: readonly string[] = [...submitRefusals, "conflict"] satisfies ProblemSlug[];

/**
 * Submits up to 200 lines in one request, in their order: a file may name a SIM twice. Without an agent record they go
 * one by one, and none of them draws.
 */
export async function submitRows(
  api: Api,
  requests: readonly NewActivation[],
  asked: SubmitOptions,
): Promise<RowOutcome[]> {
  try {
    const body = { lines: requests, again: asked.again };
    const answer = await api.request<ActivationBulkSubmitted>("POST", apiPath`/activations/bulk`, { body });
    return answer.body.results.map(outcomeOf);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== "no_agent_record") throw error;
    return submitOneByOne(api, requests, { ...asked, noAgent: error.message });
  }
}

interface WithoutAgent extends SubmitOptions {
  /** Why no line can draw from the pool. */
  noAgent: string;
}

/** Throws `PartlySent` when it ends amid the lines. */
async function submitOneByOne(
  api: Api,
  requests: readonly NewActivation[],
  asked: WithoutAgent,
): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  try {
    for (const request of requests) outcomes.push(await submitRow(api, request, asked));
    return outcomes;
  } catch (error) {
    throw new PartlySent(outcomes, error);
  }
}

function outcomeOf({ status, replayed, reason = "", message = reason }: SubmittedLine): RowOutcome {
  if (status === "submitted") return replayed ? "duplicate" : "imported";
  if (reason === "differs") return { rejected: `${message} ${TO_CORRECT}` };
  const [code, ended] = reason.split(":");
  return { rejected: code === "ended_before" && ended !== undefined ? endedBefore(ended) : message };
}

type SubmittedLine = ActivationBulkSubmitted["results"][number];

/** The command for what the API's message says. */
const TO_CORRECT = "(activations edit corrects a pending request)";

function endedBefore(status: string): string {
  return `was ${status} for this date before; --again submits it again`;
}

async function submitRow(api: Api, request: NewActivation, { again, noAgent }: WithoutAgent): Promise<RowOutcome> {
  if (isDrawn(request)) return { rejected: noAgent };
  const query = { iccid: request.iccid, limit: 100 };
  const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
  const before = body.data.filter((one) => one.activation_date === request.activation_date);
  const isThere = before.some(isHeld);
  const [ended] = before;
  if (!isThere && ended !== undefined && !again) return { rejected: endedBefore(ended.status) };
  return post(api, request, isThere);
}

/** Posts a line. Where its request is there the server refuses it, and says whether it has another identity. */
async function post(api: Api, body: NewActivation, isThere: boolean): Promise<RowOutcome> {
  try {
    await api.request("POST", apiPath`/activations`, { body });
    return "imported";
  } catch (error) {
    if (!(error instanceof CliError) || !ofTheLine.includes(error.code)) throw error;
    if (isThere && isAlike(error)) return "duplicate";
    return { rejected: differs(error) ? `${error.message} ${TO_CORRECT}` : error.message };
  }
}

/** Whether a line was refused only since its request is there: with the same identity, or on a day that is over. */
function isAlike(error: CliError): boolean {
  return error.code === "invalid_activation_date" || (error.code === "duplicate" && !differs(error));
}

function differs({ cause }: CliError): boolean {
  return typeof cause === "object" && cause !== null && "differs" in cause;
}
