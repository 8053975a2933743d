import { command } from "../../frame/command.ts";
import { decimal, excluding, integer, required, text } from "../../kernel/input.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { orderArgument } from "./order.ts";

export default command({
  target: "operator",
  effects:
    "Money goes back to the partner's wallet, never more than was charged; order.refunded is sent. The order's eSIMs " +
    "stay as they are. Asks first.",
  json: ACTED_JSON,
  examples: [
    'orders refund ORD-20260301-7KQ2M --reason "the eSIM did not install"',
    'orders refund ORD-20260301-7KQ2M --line 2 --units 1 --reason "one of three did not install"',
    'orders refund ORD-20260301-7KQ2M --amount 2.50 --reason "goodwill"',
  ],
  args: { id: orderArgument },
  options: {
    line: integer("--line <n>", "of this line alone; lines count from 1", { min: 1 }),
    units: integer("--units <n>", "the price of so many units of the line", { min: 1 }),
    amount: excluding(
      decimal("--amount <amount>", "this amount in the order's currency; left out: all that is left"),
      "--units",
    ),
    reason: required(text("--reason <text>", "why, for the partner and the audit trail")),
  },
  run(context, { id, line = null, units = null, amount = null, reason }) {
    return actHere(context, { id, act: { verb: "refund", line, units, amount, reason }, asks: true });
  },
});
