import { pauseWords } from "../../../core/orders/pause-words.ts";
import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { PAUSE_JSON, pauseResult } from "./paused.ts";

export default command({
  target: "operator",
  effects: `${pauseWords.pause} Again: another reason.`,
  json: PAUSE_JSON,
  examples: ['orders pause --reason "maintenance at our supplier until 18:00 UTC"'],
  args: {},
  options: { reason: required(text("--reason <text>", "why, for the partners and the audit trail")) },
  async run(context, { reason }) {
    const { pauseOrders } = await import("../../../core/orders/pause.ts");
    const input = { reason, actor: OPERATOR };
    return pauseResult(await context.withStore(({ store }) => store.write(pauseOrders, input)));
  },
});
