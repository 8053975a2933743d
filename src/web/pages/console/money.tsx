import type { ComponentChildren } from "preact";
import { invalid } from "../../../core/kernel/problem.ts";
import { fundingStatuses } from "../../../core/store/schema/values.ts";
import { bankDetails, setBankDetails } from "../../../core/wallet/bank-details.ts";
import { type ListedFunding, listAllFunding } from "../../../core/wallet/list-funding.ts";
import { formShown } from "../../parts/act-form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, chosen, field, type Shown } from "../../session/visit.ts";
import { creditForm, creditPayment } from "./money-funding.tsx";

const columns: readonly Column<ListedFunding>[] = [
  { title: "Reference", cell: (one) => ({ text: one.reference, to: `/money/funding/${one.reference}` }) },
  { title: "Partner", cell: (one) => ({ text: one.partner, to: `/partners/${one.partner}` }) },
  { title: "Amount", right: true, cell: (one) => ({ money: one.amount_cents, currency: one.currency }) },
  { title: "Currency", cell: (one) => one.currency },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Announced", cell: (one) => ({ time: one.created_at }) },
  { title: "Settled", cell: (one) => ({ time: one.settled_at }) },
];

/** The announced payments, where to credit one against a line of the bank, and the bank details. */
async function moneyPage(visit: ConsoleVisit): Promise<Shown> {
  const { query, store } = visit;
  const status = chosen(query, "status", fundingStatuses);
  const title = "Credit a payment that arrived";
  const intro = "Type what the line of the bank says. The amount has to be the one that was announced.";
  return listed(visit, {
    title: "Money",
    path: "/money",
    caption: "Announced payments",
    columns,
    filters: [{ name: "status", label: "Status", options: fundingStatuses }],
    read: (page) => store.list(listAllFunding, { status, ...page }),
    empty: status === undefined ? "No partner has announced a payment yet." : `No payment is ${status}.`,
    above: (
      <>
        <MoneyLinks visit={visit} />
        {visit.may("money.write") && creditForm(visit, { title, intro })}
        <h2>Announced payments</h2>
      </>
    ),
    below: details(visit, await store.read(bankDetails, null)),
  });
}

/** The pages about money. */
export function MoneyLinks({ visit }: { visit: ConsoleVisit }) {
  return (
    <p class="acts">
      <a href={`${visit.base}/money`}>Announced payments</a>
      <a href={`${visit.base}/money/ledger`}>Ledger</a>
      <a href={`${visit.base}/money/check`}>Check</a>
      <a href={`${visit.base}/money/topups`}>Top-ups to decide</a>
    </p>
  );
}

function details(visit: ConsoleVisit, text: string | null): ComponentChildren {
  const words = { title: "Bank details", intro: "Partners are shown these lines where they announce a payment." };
  if (visit.may("money.write")) {
    const lines = { name: "bank_details", label: "Bank details", value: text ?? "", rows: 6 };
    const to = "/money/bank-details";
    return formShown(visit, { ...words, to, fields: [lines], submit: "Save the bank details" });
  }
  return (
    <section>
      <h2>{words.title}</h2>
      <p>{words.intro}</p>
      <pre>{text ?? "None are set."}</pre>
    </section>
  );
}

async function keepBankDetails({ form, write }: ConsoleVisit): Promise<Shown> {
  if (!("bank_details" in form)) throw invalid({ bank_details: ["is required"] });
  // Browsers end lines with a carriage return and a line feed.
  const text = field(form, "bank_details").replaceAll("\r\n", "\n") || null;
  const kept = await write(setBankDetails, { text });
  return { to: "/money", notice: kept === null ? "The bank details are removed." : "The bank details are saved." };
}

const act = { needs: "money.write", again: moneyPage, stepUp: true } as const;

export const moneyPages = [
  consolePage({ path: "/money", needs: "money.read", show: moneyPage }),
  consolePage({ ...act, path: "/money/credit", act: creditPayment }),
  consolePage({ ...act, path: "/money/bank-details", act: keepBankDetails }),
];
