import { command } from "../../frame/command.ts";
import { argument, required, text } from "../../kernel/input.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { heldOrder } from "./choices.ts";

export default command({
  target: "operator",
  picks: heldOrder,
  effects: "The order ends cancelled, its wallet is refunded in full, and order.cancelled is sent. Asks first.",
  json: ACTED_JSON,
  examples: ['orders reject ORD-20260301-7KQ2M --reason "out of stock for weeks"'],
  args: { id: argument("id", "the order's id or number") },
  options: { reason: required(text("--reason <text>", "why, for the partner and the audit trail")) },
  run: (context, { id, reason }) => actHere(context, { id, act: { verb: "reject", reason }, asks: true }),
});
