import type { SandboxClock } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { CLOCK_JSON, clockResult } from "./view.ts";

export default command({
  target: "partner",
  sandboxOnly: true,
  effects: "Sets the partner's sandbox clock back to the system's time. Records keep the times that they have.",
  json: `the API's body: ${CLOCK_JSON}`,
  examples: ["sandbox reset", "sandbox reset --partner acme"],
  args: {},
  options: {},
  async run(context) {
    const path = apiPath`/sandbox/clock`;
    return clockResult((await context.withApi((api) => api.request<SandboxClock>("DELETE", path))).body);
  },
});
