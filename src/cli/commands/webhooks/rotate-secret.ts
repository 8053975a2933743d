import type { WebhookId } from "../../../core/kernel/brand.ts";
import type { RotatedWebhook } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument } from "../../kernel/input.ts";
import { span } from "../../kernel/input-time.ts";
import { recordResult } from "../../output/result.ts";
import { moment } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { ownerOfWebhook } from "./view.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The longest overlap that the API gives. */
const MOST_HOURS = 168;

export default command({
  target: "partner",
  effects:
    "During the overlap X-Webhook-Signature stays under the old secret and X-Webhook-Signature-Next is under the new " +
    "one; then the new one signs alone. The new secret is printed this once. At a server an overlap is whole hours, " +
    "168h at most.",
  json: "{id, secret, overlap_until}",
  examples: ["webhooks rotate-secret 019c… --overlap 24h", "webhooks rotate-secret 019c… --overlap 0 --json"],
  args: { id: argument("id", "the endpoint") },
  options: { overlap: span("--overlap <span>", "how long both sign: 30m, 24h, 7d; 0 replaces at once (default 24h)") },
  async run(context, { id, overlap: overlapMs = DAY_MS }) {
    return context.withApi(async (api) => {
      const rotated = await (api.local === undefined
        ? rotateThere(api, id, overlapMs)
        : rotateHere(api.local, id, overlapMs));
      const end = "must know it when the overlap ends.";
      return recordResult(
        rotated,
        () => ({
          id: rotated.id,
          secret: rotated.secret,
          "old one signs until": rotated.overlap_until === null ? "now, no longer" : moment(rotated.overlap_until),
        }),
        api.local === undefined
          ? `The secret is shown this once; your receiver ${end}`
          : `The secret is shown this once; give it to the partner, whose receiver ${end}`,
      );
    }, ownerOfWebhook(id));
  },
});

type Rotated = Awaited<ReturnType<typeof rotateThere>>;

/** With any overlap, as the operator. */
async function rotateHere(
  { store, ...owner }: NonNullable<Api["local"]>,
  id: string,
  overlapMs: number,
): Promise<Rotated> {
  const { rotateWebhookSecret } = await import("../../../core/webhooks/rotate-secret.ts");
  // What was typed is looked up; anything that is no endpoint's id is not found.
  return store.write(rotateWebhookSecret, { id: id as WebhookId, owner, overlapMs, actor: OPERATOR });
}

async function rotateThere(api: Api, id: string, overlapMs: number) {
  const hours = overlapMs / HOUR_MS;
  if (!Number.isInteger(hours) || hours > MOST_HOURS) {
    throw usageError(`At a server --overlap is whole hours, ${MOST_HOURS}h at most.`, "Correct it, such as 24h.");
  }
  const path = apiPath`/webhooks/${id}/rotate-secret`;
  const { body } = await api.request<RotatedWebhook>("POST", path, { body: { overlap_hours: hours } });
  return { id: body.webhook.id, secret: body.secret, overlap_until: body.previous_secret_expires_at };
}
