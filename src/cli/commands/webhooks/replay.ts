import { eventKinds } from "../../../core/events/catalog.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import { onTheWay } from "../../../core/webhooks/on-the-way.ts";
import { command } from "../../frame/command.ts";
import { argument, required, wordList } from "../../kernel/input.ts";
import { momentOf, since as sinceOption } from "../../kernel/input-time.ts";
import { replayFrom } from "./again.ts";
import { ownerOfWebhook } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "A running daemon sends what was held or exhausted since a time, oldest first, with all attempts. The endpoint " +
    "has to be active.",
  json: "the API's body: {count}",
  examples: [
    "webhooks replay 019c… --since 24h",
    "webhooks replay 019c… --since 2026-03-01T12:00:00Z --kinds order.fulfilled,order.failed --partner acme",
  ],
  args: { id: argument("id", "the endpoint") },
  options: {
    since: required(sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h for that long ago")),
    kinds: wordList("--kinds <kinds>", eventKinds, "events of these kinds only"),
  },
  async run(context, { id, since, kinds }) {
    const asked = { endpoint: id, since: momentOf(since, systemClock.now()), kinds };
    const count = await context.withApi((api) => replayFrom(api, asked), ownerOfWebhook(id));
    return { json: { count }, text: () => onTheWay(count) };
  },
});
