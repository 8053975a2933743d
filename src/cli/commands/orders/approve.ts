import { command } from "../../frame/command.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { heldOrder } from "./choices.ts";
import { orderArgument, undeliveredNote } from "./order.ts";

export default command({
  target: "operator",
  picks: heldOrder,
  effects:
    "Reserves its stock; the daemon then delivers it. Stock still short: nothing changes. Shows all first and asks.",
  json: ACTED_JSON,
  examples: ["orders approve ORD-20260301-7KQ2M", "orders approve ORD-20260301-7KQ2M --yes"],
  args: { id: orderArgument },
  options: {},
  async run(context, { id }) {
    const approved = await actHere(context, { id, act: { verb: "approve" }, asks: true });
    const waits = await undeliveredNote(context);
    return { ...approved, note: waits ?? "Approved: its stock is reserved, and the daemon delivers it now." };
  },
});
