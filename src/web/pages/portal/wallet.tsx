import { invalid } from "../../../core/kernel/problem.ts";
import type { Read } from "../../../core/store/store.ts";
import { walletBalances } from "../../../core/wallet/balances.ts";
import { bankDetails } from "../../../core/wallet/bank-details.ts";
import { requestFundingByForm } from "../../../core/wallet/by-form.ts";
import { listFunding } from "../../../core/wallet/list-funding.ts";
import { listTransactions } from "../../../core/wallet/transactions.ts";
import { formShown } from "../../parts/act-form.tsx";
import { KEY_FIELD } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { moneyField, type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";

async function seen(q: Read, { owner }: Pick<PortalVisit, "owner">) {
  const { balances } = await walletBalances(q, owner.partnerId);
  const { data: requests } = await listFunding(q, { partnerId: owner.partnerId, limit: 20 });
  return { balances, requests, bank: await bankDetails(q) };
}

type Seen = Awaited<ReturnType<typeof seen>>;
type Movement = Awaited<ReturnType<typeof listTransactions>>["data"][number];

const columns: Column<Movement>[] = [
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
    cell: ({ order_id: id, order_number }) => (id === null ? null : { text: order_number ?? id, to: `/orders/${id}` }),
  },
  { title: "Reference", cell: (one) => one.reference },
];

function walletPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner } = visit;
  return listed(visit, {
    ...{ path: "/wallet", title: "Wallet", caption: "Movements of the wallet", columns },
    filters: [{ name: "currency", label: "Currency" }],
    read: (page, { currency }) =>
      store.list(listTransactions, { partnerId: owner.partnerId, currency: currency?.toUpperCase(), ...page }),
    empty: "Nothing has moved the wallet yet.",
    above: async () => fundsShown(visit, await store.read(seen, { owner })),
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

function fundsShown(visit: PortalVisit, { balances, requests, bank }: Seen) {
  const mayFund = visit.may("wallet.fund");
  return [
    <div class="cards">
      <Balances balances={balances} />
    </div>,
    mayFund &&
      formShown(visit, {
        ...{ title: "Ask for funds", to: "/wallet", keyed: true, submit: "Ask for funds" },
        intro: "Say what you are going to transfer. The reference that you get belongs in the transfer.",
        fields: [
          { name: "amount", label: "Amount", inputmode: "decimal", hint: "For example 1500.00", required: true },
          { name: "currency", label: "Currency", value: balances[0]?.currency ?? "AUD", required: true },
        ],
      }),
    mayFund && bank !== null && (
      <section>
        <h2>Where to transfer it</h2>
        <pre>{bank}</pre>
      </section>
    ),
    table(visit, { title: "Payments that you announced", rows: requests, empty: "None yet." }, [
      { title: "Reference", cell: (one) => one.reference },
      { title: "Amount", right: true, cell: (one) => ({ money: one.amount_cents, currency: one.currency }) },
      { title: "State", cell: (one) => ({ status: one.status }) },
      { title: "Announced", cell: (one) => ({ time: one.created_at }) },
      { title: "Settled", cell: (one) => ({ time: one.settled_at }) },
    ]),
    <h2>Movements</h2>,
    <p>
      <a href={`${visit.base}/wallet/statements`}>Statements by month</a>
    </p>,
  ];
}

async function askForFunds({ form, write, owner, user }: PortalVisit): Promise<Shown> {
  const currency = requiredField(form, "currency").toUpperCase();
  const amount = moneyField(form, "amount", currency);
  if (amount <= 0) throw invalid({ amount: ["must be more than zero"] });
  const key = requiredField(form, KEY_FIELD);
  const asked = { partnerId: owner.partnerId, amount, currency, key, userId: user.id };
  const made = await write(requestFundingByForm, asked);
  if (made === null) return { to: "/wallet", notice: "This was announced before: nothing was added." };
  return { to: "/wallet", notice: `Announced. Name ${made.reference} in your transfer.` };
}

export const walletPages = [
  portalPage({ path: "/wallet", needs: "wallet.read", show: walletPage }),
  portalPage({ path: "/wallet", needs: "wallet.fund", act: askForFunds, again: walletPage, stepUp: true }),
];
