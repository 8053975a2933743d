import { counted } from "../../../core/kernel/counted.ts";
import type { Statement } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { piecesOf, writeFileWhole } from "../../output/file.ts";
import type { Sheet } from "../../output/sheet.ts";
import { movementColumns } from "./movements.ts";

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only; writes FILE with -o, as CSV whose hash sha256sum checks. Months are those of UTC. A month is " +
    "finished an hour after its end, and never changes then.",
  json:
    "the API's body: {month, currency, opening_cents, closing_cents, movement_count, finished, movements: [{id, " +
    "kind, currency, amount_cents, balance_after_cents, reference, order_id, order_number, created_at}], hash}; " +
    "with -o: {file}",
  examples: [
    "wallet statement --month 2026-03 --partner acme",
    "wallet statement --month 2026-03 --currency AUD -o acme-2026-03.csv",
  ],
  args: {},
  options: {
    month: required(text("--month <yyyy-mm>", "the month")),
    currency: text("--currency <code>", "in this currency; needed where there are several"),
    output: text("-o, --output <file>", "write it here as CSV"),
  },
  async run(context, { month, currency, output: file }) {
    const [path, query] = [apiPath`/statements/${month}`, { currency: currency?.toUpperCase() }];
    return context.withApi(async (api) => {
      if (file === undefined) {
        const { body } = await api.request<Statement>("GET", path, { query });
        return { json: body, text: (sheet) => statementText(sheet, body) };
      }
      const { body } = await api.request<string>("GET", path, { query, headers: { accept: "text/csv" } });
      await writeFileWhole(file, piecesOf(body));
      return { json: { file }, text: () => `Written to ${file}` };
    });
  },
});

function statementText(sheet: Sheet, statement: Statement): string {
  const { month, currency, opening_cents, closing_cents, movement_count, movements, hash } = statement;
  const fields = sheet.fields({
    month,
    opening: sheet.money(opening_cents, currency),
    closing: sheet.money(closing_cents, currency),
    movements: counted(movement_count, "movement"),
    hash: hash ?? "none yet: the month is not finished",
  });
  return `${fields}\n\n${sheet.table(movementColumns, movements, "No money has moved in this month.")}`;
}
