import { eventKinds } from "../../../core/events/catalog.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, flag } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { OPERATOR } from "../../place/operator.ts";
import { partnerOption } from "../../place/partner-options.ts";

interface Sent {
  id: string;
  url: string;
  status: string;
}

const columns: Column<Sent>[] = [
  { title: "delivery", value: (one) => one.id },
  { title: "status", value: (one) => one.status },
  { title: "url", value: (one) => one.url, shrinks: true },
];

export default command({
  target: "operator",
  effects: "A running daemon sends it to the endpoints subscribed to its kind. Its data says test: true.",
  json: "{event, environment, event_id, deliveries: [{id, url, status}]}",
  examples: [
    "webhooks trigger order.fulfilled --partner acme",
    "webhooks trigger esims.ready --partner acme --sandbox",
  ],
  args: { kind: argument("kind", `one of ${eventKinds.join(", ")}`, { oneOf: eventKinds }) },
  options: {
    partner: partnerOption,
    sandbox: flag("--sandbox", "to its sandbox endpoints; else those of production, if any of them subscribes to it"),
  },
  async run(context, { kind: typed, partner, sandbox }) {
    const kind = eventKinds.find((one) => one === typed);
    if (kind === undefined) {
      throw usageError(`There is no kind of event "${typed}".`, `The kinds are ${eventKinds.join(", ")}.`);
    }
    const [{ triggerSample }, { requirePartner }] = await Promise.all([
      import("../../../core/webhooks/trigger.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const { id: partnerId } = await store.read(requirePartner, partner);
      const environment = sandbox ? "sandbox" : null;
      const sent = await store.write(triggerSample, { kind, partnerId, environment, actor: OPERATOR });
      const head = `Event ${sent.event_id} (${sent.event}, ${sent.environment}) goes to:`;
      return { json: sent, text: (sheet) => `${head}\n\n${sheet.table(columns, sent.deliveries, "")}` };
    });
  },
});
