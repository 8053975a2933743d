import { parseMoney } from "../../../core/kernel/money.ts";
import type { Read } from "../../../core/store/store.ts";
import { walletBalances } from "../../../core/wallet/balances.ts";
import { bankDetails } from "../../../core/wallet/bank-details.ts";
import { requestFundingByForm } from "../../../core/wallet/by-form.ts";
import { listFunding } from "../../../core/wallet/list-funding.ts";
import { listTransactions } from "../../../core/wallet/transactions.ts";
import { Field, Form, KEY_FIELD, Submit } from "../../parts/form.tsx";
import { type Column, Rows } from "../../parts/list.tsx";
import { moneyWords } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { optionalField, type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";
import { ownList } from "./own-pages.tsx";

async function seen(q: Read, { owner }: Pick<PortalVisit, "owner">) {
  const { balances } = await walletBalances(q, owner.partnerId);
  const { data: requests } = await listFunding(q, { partnerId: owner.partnerId, limit: 20 });
  return { balances, requests, bank: await bankDetails(q) };
}

type Seen = Awaited<ReturnType<typeof seen>>;
type Movement = Awaited<ReturnType<typeof listTransactions>>["data"][number];

const columnsOf = ({ base }: PortalVisit): Column<Movement>[] => [
  { title: "When", cell: (one) => ({ time: one.created_at }) },
  { title: "What", cell: (one) => one.kind },
  { title: "Amount", right: true, cell: (one) => ({ money: one.amount_cents, currency: one.currency }) },
  {
    title: "Balance after it",
    right: true,
    cell: (one) => ({ money: one.balance_after_cents, currency: one.currency }),
  },
  {
    title: "Order",
    cell: ({ order_id: id, order_number }) =>
      id === null ? null : { text: order_number ?? id, href: `${base}/orders/${id}` },
  },
  { title: "Reference", cell: (one) => one.reference },
];

const fundingColumns: Column<Seen["requests"][number]>[] = [
  { title: "Reference", cell: (one) => one.reference },
  { title: "Amount", right: true, cell: (one) => ({ money: one.amount_cents, currency: one.currency }) },
  { title: "State", cell: (one) => ({ status: one.status }) },
  { title: "Announced", cell: (one) => ({ time: one.created_at }) },
  { title: "Settled", cell: (one) => ({ time: one.settled_at }) },
];

function walletPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner, query } = visit;
  const filter = { partnerId: owner.partnerId, currency: optionalField(query, "currency")?.toUpperCase() };
  return ownList(visit, {
    path: "/wallet",
    title: "Wallet",
    caption: "Movements of the wallet",
    columns: columnsOf(visit),
    filters: [{ name: "currency", label: "Currency" }],
    read: (page) => store.list(listTransactions, { ...filter, ...page }),
    empty: "Nothing has moved the wallet yet.",
    above: async () => <Funds visit={visit} {...(await store.read(seen, { owner }))} />,
  });
}

/** What a wallet holds in each of its currencies. */
export function Balances({ balances }: Pick<Seen, "balances">) {
  return (
    <>
      {balances.map(({ currency, balance_cents, credit }) => (
        <div class="card">
          <h2>Balance in {currency}</h2>
          <p class="big">{moneyWords(balance_cents, currency)}</p>
          {credit && <p class="hint">{moneyWords(credit.available_cents, currency)} of credit beside it</p>}
        </div>
      ))}
    </>
  );
}

function Funds({ visit, balances, requests, bank }: { visit: PortalVisit } & Seen) {
  const title = "Payments that you announced";
  return (
    <>
      <div class="cards">
        <Balances balances={balances} />
      </div>
      {visit.may("wallet.fund") && (
        <section>
          <h2>Ask for funds</h2>
          <p>Say what you are going to transfer. The reference that you get belongs into the transfer.</p>
          <Form visit={visit} to="/wallet" keyed class="narrow">
            <Field visit={visit} name="amount" label="Amount" inputmode="decimal" hint="For example 1500.00" required />
            <Field visit={visit} name="currency" label="Currency" value={balances[0]?.currency ?? "AUD"} required />
            <Submit>Ask for funds</Submit>
          </Form>
          {bank !== null && (
            <>
              <h3>Where to transfer it</h3>
              <pre>{bank}</pre>
            </>
          )}
        </section>
      )}
      <section>
        <h2>{title}</h2>
        <Rows visit={visit} caption={title} rows={requests} empty="None yet." columns={fundingColumns} />
      </section>
      <h2>Movements</h2>
    </>
  );
}

async function askForFunds(visit: PortalVisit): Promise<Shown> {
  const { form, store, owner, actor, user, request } = visit;
  const currency = requiredField(form, "currency").toUpperCase();
  const amount = parseMoney(requiredField(form, "amount").replaceAll(",", ""), currency);
  const key = requiredField(form, KEY_FIELD);
  const asked = { partnerId: owner.partnerId, amount, currency, actor, key, userId: user.id };
  const made = await store.write(requestFundingByForm, asked, request.id, owner);
  if (made === null) return { to: "/wallet", notice: "This was announced before: nothing was added." };
  return { to: "/wallet", notice: `Announced. Name ${made.reference} in your transfer.` };
}

export const walletPages = [
  portalPage({ path: "/wallet", needs: "wallet.read", show: walletPage }),
  portalPage({ path: "/wallet", needs: "wallet.fund", act: askForFunds, again: walletPage, stepUp: true }),
];
