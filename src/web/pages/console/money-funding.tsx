import { listAudit } from "../../../core/audit/list.ts";
import { invalid, Problem } from "../../../core/kernel/problem.ts";
import type { Read } from "../../../core/store/store.ts";
import { creditFundingByForm } from "../../../core/wallet/by-form.ts";
import { cancelFunding } from "../../../core/wallet/funding.ts";
import { type ListedFunding, showFunding } from "../../../core/wallet/list-funding.ts";
import { formShown } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { ActButton, KEY_FIELD } from "../../parts/form.tsx";
import { type Fields, pageShown, record } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, moneyField, partIn, requiredField, type Shown } from "../../session/visit.ts";
import { auditHistory } from "./audit-history.ts";
import { timelineShown } from "./history.tsx";

const HISTORY_LINES = 50;

async function seen(q: Read, reference: string) {
  const request = await showFunding(q, reference);
  return { request, audit: await listAudit(q, { target: request.reference, limit: HISTORY_LINES }) };
}

const referenceOf = (visit: ConsoleVisit) => partIn(visit, "reference");

async function fundingPage(visit: ConsoleVisit): Promise<Shown> {
  const { request, audit } = await visit.store.read(seen, referenceOf(visit));
  const { reference, partner, status } = request;
  const isOpen = status === "requested" && visit.may("money.write");
  const cancel = `/money/funding/${reference}/cancel`;
  const fields: Fields = [
    ["Partner", { text: partner, to: `/partners/${partner}` }],
    ["Amount", { money: request.amount_cents, currency: request.currency }],
    ["Status", { status }],
    ["Announced", { time: request.created_at }],
    ["By", request.requested_by],
    ["Settled", { time: request.settled_at }],
  ];
  const body = (
    <>
      {record(visit, fields)}
      {isOpen && creditForm(visit, { title: "Settle it" }, reference)}
      {isOpen && <ActButton visit={visit} to={cancel} label="Cancel the request" kind="bad" />}
      {await timelineShown(visit, auditHistory(audit, { money: true }))}
    </>
  );
  return pageShown(visit, reference, body);
}

/** What a line of the bank says of a payment, and the button that credits it. */
export function creditForm(visit: ConsoleVisit, words: { title: string; intro?: string }, reference = "") {
  const hint = "For example 1500.00, in the announced currency.";
  return formShown(visit, {
    ...{ ...words, to: "/money/credit", keyed: true, submit: "Credit the payment" },
    fields: [
      {
        ...{ name: "reference", label: "Reference", value: reference, required: true },
        hint: "FND- and eight characters.",
      },
      { name: "amount", label: "Amount at the bank", inputmode: "decimal", hint, required: true },
    ],
  });
}

/** The request that a form names. Throws `validation` for a reference that is none. */
async function announced(visit: ConsoleVisit): Promise<ListedFunding> {
  try {
    return await visit.store.read(showFunding, requiredField(visit.form, "reference"));
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== "not_found") throw error;
    throw invalid({ reference: ["names no announced payment"] });
  }
}

/** Credits a payment whose reference and amount a form names as the bank does. Throws `validation`, `conflict`. */
export async function creditPayment(visit: ConsoleVisit): Promise<Shown> {
  const { form, user } = visit;
  const { reference, currency, amount_cents, partner } = await announced(visit);
  const arrived = moneyField(form, "amount", currency);
  const input = { key: requiredField(form, KEY_FIELD), userId: user.id, reference, arrived };
  const credited = await visit.write(creditFundingByForm, input);
  const words =
    credited === null
      ? `This form was sent before: ${reference} is credited once.`
      : `${moneyWords(amount_cents, currency)} is credited to ${partner}, now at ` +
        `${moneyWords(credited.balance_after_cents, currency)}.`;
  return { to: `/money/funding/${reference}`, notice: words };
}

const cancelling = actPage({
  read: async (visit: ConsoleVisit) => referenceOf(visit),
  at: (reference) => `/money/funding/${reference}`,
  ...{ verb: "cancel", button: "Cancel the request", bad: true, command: cancelFunding },
  title: (reference) => `Cancel ${reference}?`,
  input: (_visit, reference) => ({ reference }),
  foresee: ({ amount_cents, currency }) => (
    <p>
      The request for {moneyWords(amount_cents, currency)} ends without money. A transfer that still arrives with this
      reference has to be credited by hand.
    </p>
  ),
  done: ({ reference }) => `${reference} is cancelled.`,
});

const at = "/money/funding/:reference";

export const fundingPages = [
  consolePage({ path: at, needs: "money.read", show: fundingPage }),
  consolePage({ path: `${at}/cancel`, needs: "money.write", ...cancelling, again: fundingPage, stepUp: true }),
];
