import type { ComponentChildren } from "preact";
import { requirePartner } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { type WalletBalance, walletBalances } from "../../../core/wallet/balances.ts";
import { moveByForm } from "../../../core/wallet/by-form.ts";
import { listTransactions } from "../../../core/wallet/transactions.ts";
import { type FieldOf, formShown } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { KEY_FIELD } from "../../parts/form.tsx";
import { listed } from "../../parts/list-page.tsx";
import { record } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import {
  type ConsoleVisit,
  choiceField,
  moneyField,
  optionalField,
  requiredField,
  type Shown,
} from "../../session/visit.ts";
import { movementColumns } from "./money-ledger.tsx";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

const ways = ["credit", "debit"] as const;

async function seen(q: Read, slug: string) {
  const { id, name } = await requirePartner(q, slug);
  return { id, name, balances: (await walletBalances(q, id)).balances };
}

async function walletPage(visit: ConsoleVisit): Promise<Shown> {
  const { store, query } = visit;
  const slug = slugOf(visit);
  const { id: partnerId, name, balances } = await store.read(seen, slug);
  const currency = optionalField(query, "currency")?.toUpperCase();
  return listed(visit, {
    title: `Wallet of ${name}`,
    path: `/partners/${slug}/wallet`,
    caption: "Movements of the wallet",
    columns: movementColumns(visit),
    filters: [{ name: "currency", label: "Currency" }],
    read: (page) => store.list(listTransactions, { partnerId, currency, ...page }),
    empty: "Nothing has moved the wallet yet.",
    above: (
      <>
        <PartnerLinks visit={visit} slug={slug} />
        {moneyShown(visit, slug, balances)}
        <h2>Movements</h2>
        <p>
          <a href={`${visit.base}/partners/${slug}/wallet/statements`}>Statements by month</a>
        </p>
      </>
    ),
  });
}

/** What a partner's wallet holds, by currency, and the form that moves it; what comes of it is shown before. */
export function moneyShown(visit: ConsoleVisit, slug: string, balances: readonly WalletBalance[]): ComponentChildren {
  return (
    <>
      <div class="cards">
        {balances.map(({ currency, balance_cents, credit }) => (
          <div class="card">
            <h2>Balance in {currency}</h2>
            <p class="big">{moneyWords(balance_cents, currency)}</p>
            {credit && (
              <p class="hint">
                {moneyWords(credit.used_cents, currency)} drawn of a credit line of{" "}
                {moneyWords(credit.limit_cents, currency)}
              </p>
            )}
          </div>
        ))}
        {balances.length === 0 && (
          <div class="card">
            <h2>Balance</h2>
            <p>The wallet is empty.</p>
          </div>
        )}
      </div>
      {visit.may("money.write") &&
        formShown(visit, {
          ...{ title: "Credit or debit the wallet", to: `/partners/${slug}/wallet`, keyed: true, submit: "Continue" },
          fields: movementFields(balances[0]?.currency ?? "AUD"),
        })}
    </>
  );
}

const movementFields = (currency: string): FieldOf[] => [
  { name: "kind", label: "What to do", options: ways, value: "credit" },
  { name: "amount", label: "Amount", inputmode: "decimal", hint: "For example 1500.00", required: true },
  { name: "currency", label: "Currency", value: currency, required: true },
  {
    ...{ name: "reference", label: "Reference" },
    hint: "Of the transfer: a payment that is recorded twice is refused by it.",
  },
];

async function move(visit: ConsoleVisit): Promise<Shown> {
  const { form, store, user } = visit;
  const slug = slugOf(visit);
  const { id: partnerId } = await store.read(requirePartner, slug);
  const currency = requiredField(form, "currency").toUpperCase();
  const kind = choiceField(form, "kind", ways);
  const amount = moneyField(form, "amount", currency);
  const reference = optionalField(form, "reference") ?? null;
  const key = requiredField(form, KEY_FIELD);
  const input = { key, userId: user.id, kind, partnerId, amount, currency, reference };
  const to = `/partners/${slug}/wallet`;
  const moved = isConfirmed(visit) ? await visit.write(moveByForm, input) : await visit.rehearse(moveByForm, input);
  if (moved === null) return { to, notice: "This form was sent before: the wallet is moved once." };
  const cents = moneyWords(moved.amount_cents, currency);
  if (isConfirmed(visit)) return { to, notice: `The wallet of ${slug} is ${kind}ed with ${cents}.` };
  const verb = kind === "credit" ? "Credit" : "Debit";
  return consequenceShown(visit, {
    ...{ title: `${verb} the wallet of ${slug}?`, act: `${verb} ${cents}`, to, back: to, keyed: true },
    carried: ["kind", "amount", "currency", "reference"],
    kind: kind === "debit" ? "bad" : undefined,
    children: record(visit, [
      ["Amount", { money: moved.amount_cents, currency }],
      ["Balance after it", { money: moved.balance_after_cents, currency }],
      ["Reference", moved.reference],
    ]),
  });
}

const at = "/partners/:slug/wallet";

export const partnerWalletPages = [
  consolePage({ path: at, needs: "money.read", show: walletPage }),
  consolePage({ path: at, needs: "money.write", act: move, again: walletPage, stepUp: true }),
];
