import { pauseWords } from "../../../core/orders/pause-words.ts";
import { command } from "../../frame/command.ts";
import { OPERATOR } from "../../place/operator.ts";
import { PAUSE_JSON, pauseResult } from "./paused.ts";

export default command({
  target: "operator",
  effects: pauseWords.resume,
  json: PAUSE_JSON,
  examples: ["orders resume"],
  args: {},
  options: {},
  async run(context) {
    const { resumeOrders } = await import("../../../core/orders/pause.ts");
    return pauseResult(await context.withStore(({ store }) => store.write(resumeOrders, { actor: OPERATOR })));
  },
});
