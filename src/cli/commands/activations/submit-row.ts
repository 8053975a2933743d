import { type NewActivation, submitActivation, submitRefusals } from "../../../core/activations/submit.ts";
import { Problem, type ProblemSlug } from "../../../core/kernel/problem.ts";
import type { Activation, PageBody } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { RowOutcome } from "../../csv/import.ts";
import { CliError } from "../../kernel/errors.ts";
import { problemFailure } from "../../kernel/failure.ts";
import { OPERATOR } from "../../place/operator.ts";

interface Asked {
  /** Also what was cancelled or failed for the same date before. */
  again: boolean;
}

/** Refusals that are one line's own (a pool without a passport for it too); anything else ends the run. */
const ofTheLine: readonly string[] = [...submitRefusals, "conflict"] satisfies ProblemSlug[];

/** Hands in lines one after the other: a file may name a SIM twice, and the later line is checked after the earlier. */
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
