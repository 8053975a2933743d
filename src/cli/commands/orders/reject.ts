import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { heldOrder } from "./choices.ts";
import { orderArgument } from "./order.ts";

export default command({
  target: "operator",
  picks: heldOrder,
  effects: "The order ends cancelled, its wallet is refunded in full, and order.cancelled is sent. Asks first.",
  json: ACTED_JSON,
  examples: ['orders reject ORD-20260301-7KQ2M --reason "out of stock for weeks"'],
  args: { id: orderArgument },
  options: { reason: required(text("--reason <text>", "why, for the partner and the audit trail")) },
  run: (context, { id, reason }) => actHere(context, { id, act: { verb: "reject", reason }, asks: true }),
});
