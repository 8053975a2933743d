import type { SandboxClock } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { durationArgument } from "../../kernel/input-time.ts";
import { CLOCK_JSON, clockResult } from "./view.ts";

export default command({
  target: "partner",
  sandboxOnly: true,
  effects:
    "Moves the partner's sandbox clock forward, at most 400 days ahead in all. A running esimctl serve does what " +
    "becomes due. Production keeps the system's time.",
  json: `the API's body: ${CLOCK_JSON}`,
  examples: ["sandbox advance 7d", "sandbox advance 36h --partner acme", "sandbox advance P1M --partner acme --json"],
  args: { by: durationArgument("duration", "how far: 12h, 7d, or an ISO 8601 duration such as P1M") },
  options: {},
  async run(context, { by: advance }) {
    const asked = { body: { advance } };
    const path = apiPath`/sandbox/clock`;
    return clockResult((await context.withApi((api) => api.request<SandboxClock>("POST", path, asked))).body);
  },
});
