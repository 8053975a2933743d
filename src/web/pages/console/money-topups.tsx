import type { TopupId } from "../../../core/kernel/brand.ts";
import type { Read } from "../../../core/store/store.ts";
import { decideTopupByForm } from "../../../core/topups/by-form.ts";
import {
  decideTopup,
  type StuckTopup,
  stuckTopups,
  type TopupVerdict,
  topupInside,
} from "../../../core/topups/operator.ts";
import { verdictWords } from "../../../core/topups/verdict-words.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { backLink, changeWords, type Fields, links, pageShown, record } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, idIn, requiredField, type Shown } from "../../session/visit.ts";
import { partnerFilter, queueOf } from "./all-partners.ts";
import { storyOf } from "./audit-history.ts";
import { timelineShown } from "./history.tsx";
import { MoneyLinks } from "./money.tsx";

const LIST = "/money/topups";

const columns: readonly Column<StuckTopup>[] = [
  { title: "Product", cell: (one) => ({ text: one.product_sku, to: `${LIST}/${one.id}` }) },
  { title: "eSIM", cell: (one) => one.iccid },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Price", right: true, cell: (one) => ({ money: one.price_cents, currency: one.currency }) },
  { title: "Supplier", cell: (one) => one.supplier },
  { title: "Plan there", cell: (one) => one.supplier_sku },
  { title: "Why", cell: (one) => one.reason },
  { title: "Since", cell: (one) => ({ time: one.created_at }) },
];

async function topupsPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Top-ups to decide",
    path: LIST,
    caption: "Top-ups that may have been bought, and whose supplier says no more, oldest first",
    columns,
    filters: [await partnerFilter(visit)],
    read: queueOf<StuckTopup>(visit, "console_topups", async (limit, after) => {
      const data = await visit.store.list(stuckTopups, { limit, after });
      const last = data.length < limit ? undefined : data.at(-1);
      return { data, next: last === undefined ? null : { key: Date.parse(last.created_at), id: last.id } };
    }),
    empty: "No top-up waits for a person.",
    above: <MoneyLinks visit={visit} />,
  });
}

async function seen(q: Read, id: TopupId) {
  return { topup: await topupInside(q, id), history: await storyOf(q, id) };
}

const seenIn = (visit: ConsoleVisit) => visit.store.read(seen, idIn(visit) as TopupId); // the database decides

async function topupPage(visit: ConsoleVisit): Promise<Shown> {
  const { topup, history } = await seenIn(visit);
  const { iccid, partner, supplier } = topup;
  const fields: Fields = [
    ["Status", { status: topup.status }],
    ["Waits for", topup.isStuck ? "a person: look it up at the supplier first" : null],
    ["Why", topup.reason],
    ["eSIM", visit.may("esims.read") ? { text: iccid, to: `/esims/${iccid}` } : iccid],
    ["Partner", `${partner} (${topup.environment})`],
    ["Price", { money: topup.price_cents, currency: topup.currency }],
    ["Supplier", supplier],
    ["Plan there", topup.supplier_sku],
    ["Attempts", topup.attempts],
    ["Asked for", { time: topup.created_at }],
    ["Applied", { time: topup.applied_at }],
    ["ID", topup.id],
  ];
  const possible = topup.isStuck && visit.may("money.write") ? verbs : [];
  const acts = possible.map((verb) => [`${LIST}/${topup.id}/${verb}`, decisions[verb].title] as const);
  return pageShown(visit, `Top-up ${topup.product_sku}`, [
    record(visit, fields, acts.length > 0 && links(visit, acts)),
    await timelineShown(visit, history),
    backLink(visit, LIST, "Top-ups to decide"),
  ]);
}

type Verb = TopupVerdict["verb"];

const reason: FieldOf = {
  ...{ name: "reason", label: "Reason", required: true },
  hint: "For the partner and the audit trail.",
};

/** What a decision is called, and its form. */
const decisions: Readonly<Record<Verb, { title: string; done: string; fields: readonly FieldOf[] }>> = {
  complete: { title: "It is on the eSIM", done: "is applied", fields: [] },
  fail: { title: "Give the money back", done: "has failed", fields: [reason] },
  retry: { title: "Look it up again", done: "is looked up again", fields: [] },
};

// The keys of a record are its names.
const verbs = Object.keys(decisions) as Verb[];

const deciding = (verb: Verb) =>
  actPage({
    ...{ verb, button: decisions[verb].title, bad: verb === "fail", fields: decisions[verb].fields },
    read: seenIn,
    at: ({ topup }) => `${LIST}/${topup.id}`,
    title: ({ topup }) => `${decisions[verb].title}: ${topup.product_sku} of eSIM ${topup.iccid}`,
    command: decideTopup,
    keyed: decideTopupByForm,
    input: ({ form }, { topup }) => ({
      id: topup.id,
      verdict: verb === "fail" ? { verb, reason: requiredField(form, "reason") } : { verb },
    }),
    foresee: ({ status, price_cents, currency, failure_reason }, { topup }) => [
      <p>{verdictWords[verb]}</p>,
      <p>
        {verb === "fail"
          ? `${moneyWords(price_cents, currency)} go back to ${topup.partner}, who reads: ${failure_reason}.`
          : `No money moves: ${topup.partner} has paid ${moneyWords(price_cents, currency)}.`}
      </p>,
      <p>{changeWords(topup.status, status)}</p>,
    ],
    done: (_decided, { topup }) => `The top-up ${topup.product_sku} ${decisions[verb].done}.`,
  });

/** Top-ups in doubt, and what people decide about each. */
export const topupPages = [
  consolePage({ path: LIST, needs: "money.read", show: topupsPage }),
  consolePage({ path: `${LIST}/:id`, needs: "money.read", show: topupPage }),
  ...verbs.map((verb) =>
    consolePage({ path: `${LIST}/:id/${verb}`, needs: "money.write", ...deciding(verb), stepUp: true }),
  ),
];
