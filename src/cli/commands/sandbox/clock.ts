import type { SandboxClock } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { CLOCK_JSON, clockResult } from "./view.ts";

export default command({
  target: "partner",
  sandboxOnly: true,
  shows: "record",
  effects: "Reads only. Works with sandbox credentials; on local data it acts in the sandbox.",
  json: `the API's body: ${CLOCK_JSON}`,
  examples: ["sandbox clock", "sandbox clock --partner acme --json"],
  args: {},
  options: {},
  async run(context) {
    const path = apiPath`/sandbox/clock`;
    return clockResult((await context.withApi((api) => api.request<SandboxClock>("GET", path))).body);
  },
});
