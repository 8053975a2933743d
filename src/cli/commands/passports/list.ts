import type { PassportPage } from "../../client/answers.ts";
import { type Api, type Asked, apiPath } from "../../client/api.ts";
import { pageResult } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { RECORDS_JSON, recordColumns } from "./passport.ts";

export default command({
  target: "partner",
  effects: "Reads only. On the operator's host the reading is recorded in the audit trail.",
  json: RECORDS_JSON,
  examples: ["passports list --partner acme", "passports list --partner acme --all --json"],
  args: {},
  options: {
    limit: integer("--limit <n>", "records a page, 1 to 200 (default 100)", { min: 1, max: 200 }),
    cursor: text("--cursor <cursor>", "where the next page starts, from the page before"),
    number: text("--passport-no <number>", "only this number; - reads it from standard input"),
    all: flag("--all", "all pages, one after the other"),
  },
  async run(context, { limit, cursor, number, all }) {
    const passport_no =
      number === undefined ? undefined : await readSecretArgument(number, "Passport number:", context.globals);
    const query = { limit: all ? 200 : limit, cursor, passport_no };
    const body = await context.withApi((api) => listPool(api, query, all));
    return pageResult(body, { rows: body.records, columns: recordColumns, empty: "No passports." });
  },
});

/** One page of the pool, or with `all` every page from the cursor on, as one body of the same shape. */
async function listPool(api: Api, query: NonNullable<Asked["query"]>, all: boolean): Promise<PassportPage> {
  const ask = (cursor: Asked["query"]) =>
    api.request<PassportPage>("GET", apiPath`/kyc/passports`, { query: { ...query, ...cursor } });
  const { body } = await ask({});
  let next = body.pagination.next_cursor;
  if (!all || next === null) return body;
  const records = [...body.records];
  while (next !== null) {
    const page: PassportPage = (await ask({ cursor: next })).body;
    records.push(...page.records);
    next = page.pagination.next_cursor;
  }
  const count = records.length;
  return { records, count, pagination: { has_more: false, next_cursor: null, count } };
}
