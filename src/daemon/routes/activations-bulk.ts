import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { reasonOf } from "../../core/activations/bulk.ts";
import { submitLine } from "../../core/activations/submit-line.ts";
import { requireAgent } from "../../core/passports/passport.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import { actorOf, type DaemonContext } from "../context/context.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { itemProblem } from "../plugins/refusals.ts";
import { bodyReader } from "../plugins/validation.ts";
import { BulkSubmit, BulkSubmitResult, NewActivation } from "../schemas/activation.ts";

type Outcome = Static<typeof BulkSubmitResult>["results"][number];

const readLine = bodyReader(NewActivation);

/** POST /activations/bulk, beyond the contract: many lines, each with a passport or with one drawn from the pool. */
export const activationBulkRoutes: RoutePlugin = (app, context) => {
  app.route({
    method: "POST",
    url: "/api/v1/activations/bulk",
    config: { identity: true, scope: "write:orders", problems: ["validation", "no_agent_record"] },
    schema: {
      operationId: "submitActivations",
      tags: ["Activations"],
      summary: "Ask for up to 200 physical SIMs to be activated, each on its own",
      description:
        "Lines are taken in their order; the failure of one does not affect others. A line without passport_no draws " +
        "a verified passport from your pool. ICCID and activation_date identify a line: sent again it is answered " +
        "with the request that is there, and nothing happens twice.",
      body: BulkSubmit,
      response: { 200: BulkSubmitResult },
    },
    async handler(request) {
      await context.store.read(requireAgent, principalOf(request).partnerId);
      const { lines, again = false } = request.body;
      // All are written at once: the store keeps their order, gives each its own savepoint and all of them one commit.
      const results = await Promise.all(lines.map((line) => submitOne(context, request, line, again)));
      const successful = results.filter(({ status }) => status === "submitted").length;
      return { results, summary: { total: results.length, successful, failed: results.length - successful } };
    },
  });
};

async function submitOne(
  { store }: DaemonContext,
  request: FastifyRequest,
  line: { iccid?: unknown },
  again: boolean,
): Promise<Outcome> {
  const principal = principalOf(request);
  const { partnerId, environment } = principal;
  const iccid = sentIccid(line);
  try {
    const input = { partnerId, environment, request: readLine(line), actor: actorOf(principal), again };
    return { iccid, status: "submitted", ...(await store.write(submitLine, input, request.id, principal)) };
  } catch (error) {
    // Nothing is known of any line then: the whole request may be sent again.
    if (isUnavailable(error)) throw error;
    const problem = itemProblem(error, request, "This line could not be submitted; send it again later.");
    return { iccid, status: "failed", replayed: false, reason: reasonOf(problem), message: wordsOf(problem) };
  }
}

/** A message that names every wrong field. */
function wordsOf({ message, errors = {} }: ReturnType<typeof itemProblem>): string {
  const sentences = Object.entries(errors).map(([field, words]) => `${field} ${words.join(" and ")}`);
  return sentences.length > 1 ? `${sentences.join("; ")}.` : message;
}

const MOST_ECHOED = 40;

function sentIccid({ iccid }: { iccid?: unknown }): string | null {
  return typeof iccid === "string" && iccid.length <= MOST_ECHOED ? iccid : null;
}
