import type { WebhookId } from "../../../core/kernel/brand.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { span } from "../../kernel/input-time.ts";
import { recordResult } from "../../output/result.ts";
import { moment } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";

const DAY_MS = 86_400_000;

export default command({
  target: "operator",
  effects:
    "During the overlap X-Webhook-Signature stays under the old secret and X-Webhook-Signature-Next is under the new " +
    "one; then the new one signs alone. The new secret is printed this once.",
  json: "{id, secret, overlap_until}",
  examples: ["webhooks rotate-secret 019c… --overlap 24h", "webhooks rotate-secret 019c… --overlap 0 --json"],
  args: { id: argument("id", "the endpoint") },
  options: { overlap: span("--overlap <span>", "how long both sign: 30m, 24h, 7d; 0 replaces at once (default 24h)") },
  async run(context, { id, overlap: overlapMs = DAY_MS }) {
    const { rotateWebhookSecret } = await import("../../../core/webhooks/rotate-secret.ts");
    // What was typed is looked up; anything that is no endpoint's id is not found.
    const input = { id: id as WebhookId, overlapMs, actor: OPERATOR };
    const rotated = await context.withStore(({ store }) => store.write(rotateWebhookSecret, input));
    return recordResult(
      rotated,
      () => ({
        id: rotated.id,
        secret: rotated.secret,
        "old one signs until": rotated.overlap_until === null ? "now, no longer" : moment(rotated.overlap_until),
      }),
      "The secret is shown this once; give it to the partner, whose receiver must know it when the overlap ends.",
    );
  },
});
