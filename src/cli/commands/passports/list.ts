import type { PassportPage } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { apiListing } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { RECORDS_JSON, recordColumns } from "./passport.ts";

export default command({
  target: "partner",
  shows: "rows",
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
    const asked = { path: apiPath`/kyc/passports`, query: { limit, cursor, passport_no }, all, most: 200 };
    const look = { key: "records", counts: true, columns: recordColumns, empty: "No passports." };
    const rows = ({ records }: PassportPage) => records;
    return context.withApi((api) => context.print(apiListing(api, asked, { ...look, rows })));
  },
});
