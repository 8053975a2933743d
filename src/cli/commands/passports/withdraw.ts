import type { PassportWithdrawn } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";

export default command({
  target: "partner",
  effects: "The passport is drawn no more and leaves the list; purge deletes it later. Asks first.",
  json: "the API's body: {ok, id, status}",
  examples: ["passports withdraw 019c… --partner acme", "passports withdraw 019c… --partner acme --yes"],
  args: { id: argument("id", "the record's id") },
  options: {},
  async run(context, { id }) {
    const { body } = await context.withApi(async (api) => {
      await context.confirm(`Withdraw passport ${id}? It cannot be undone.`, { whose: api.actsAs });
      return api.request<PassportWithdrawn>("DELETE", apiPath`/kyc/passports/${id}`);
    });
    return recordResult(body, () => ({ id: body.id, status: body.status }));
  },
});
