import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { heldOrder } from "./choices.ts";
import { orderArgument } from "./order.ts";

export default command({
  target: "operator",
  picks: heldOrder,
  effects: "Nothing delivered: the order is cancelled; else it ends fulfilled without the cancelled lines. Asks first.",
  json: ACTED_JSON,
  examples: ['orders cancel ORD-20260301-7KQ2M --reason "customer changed her mind"'],
  args: { id: orderArgument },
  options: { reason: required(text("--reason <text>", "why, for the partner and the audit trail")) },
  run: (context, { id, reason }) => actHere(context, { id, act: { verb: "cancel", reason }, asks: true }),
});
