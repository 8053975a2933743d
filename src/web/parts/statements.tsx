import type { ComponentChildren } from "preact";
import type { PartnerId } from "../../core/kernel/brand.ts";
import { findStatement, type StatementFigures, statementName } from "../../core/wallet/statement.ts";
import { statementCsv } from "../../core/wallet/statement-text.ts";
import { listStatements } from "../../core/wallet/statements.ts";
import { statementPdf } from "../../daemon/pages/statement-pdf.ts";
import { choiceField, requiredField, type Shown, type Visit } from "../session/visit.ts";
import type { Column } from "./list.tsx";
import { listed } from "./list-page.tsx";

const forms = { csv: "text/csv; charset=utf-8", pdf: "application/pdf" } as const;

interface StatementsOf {
  partnerId: PartnerId;
  /** Of the page, under the visit's base; the files are below it. */
  path: string;
  title: string;
  above?: ComponentChildren;
}

/** The months of a partner's wallets, with a file of each. */
export function statementsShown(visit: Visit, { partnerId, path, title, above }: StatementsOf): Promise<Shown> {
  return listed(visit, {
    ...{ path, title, columns: columnsOf(path) },
    filters: [{ name: "currency", label: "Currency" }],
    read: (page, { currency }) =>
      visit.store.list(listStatements, { partnerId, currency: currency?.toUpperCase(), ...page }),
    empty: "Nothing has moved the wallet yet.",
    above: (
      <>
        {above}
        <p>Months are those of UTC. One is finished an hour after its end: its statement never changes from then on.</p>
      </>
    ),
  });
}

function columnsOf(path: string): Column<StatementFigures>[] {
  const file = ({ month, currency }: StatementFigures, form: string) => ({
    text: form.toUpperCase(),
    to: `${path}/${month}?currency=${currency}&form=${form}`,
  });
  return [
    { title: "Month", cell: (one) => one.month },
    { title: "Opening", right: true, cell: (one) => ({ money: one.opening_cents, currency: one.currency }) },
    { title: "Movements", right: true, cell: (one) => one.movement_count },
    { title: "Closing", right: true, cell: (one) => ({ money: one.closing_cents, currency: one.currency }) },
    { title: "State", cell: (one) => (one.finished ? "finished" : "not finished") },
    { title: "For programs", leads: true, cell: (one) => file(one, "csv") },
    { title: "To print", leads: true, cell: (one) => file(one, "pdf") },
  ];
}

/** The file of the month in the address, in the form that its query asks for. */
export async function statementFile(visit: Visit, partnerId: PartnerId): Promise<Shown> {
  const { store, query, request } = visit;
  const form = choiceField(query, "form", ["csv", "pdf"]);
  // Every page that asks is under /:month.
  const { month } = request.params as { month: string };
  const statement = await store.list(findStatement, { partnerId, month, currency: requiredField(query, "currency") });
  const file = (form === "csv" ? statementCsv : statementPdf)(store, statement);
  return { file, type: forms[form], name: `${statementName(statement)}.${form}` };
}
