import { command } from "../../frame/command.ts";
import { OPERATOR } from "../../place/operator.ts";
import { PAUSE_JSON, pauseResult } from "./paused.ts";

export default command({
  target: "operator",
  effects: "New orders are accepted again from the daemon's next request on. Suppliers that are paused stay so.",
  json: PAUSE_JSON,
  examples: ["orders resume"],
  args: {},
  options: {},
  async run(context) {
    const { resumeOrders } = await import("../../../core/orders/pause.ts");
    return pauseResult(await context.withStore(({ store }) => store.write(resumeOrders, { actor: OPERATOR })));
  },
});
