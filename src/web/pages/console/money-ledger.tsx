import { findPartner } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { checkBalancesAfter, checkCredit, checkWallets } from "../../../core/wallet/check.ts";
import {
  type ListedTransaction,
  listAllTransactions,
  type WalletTransaction,
} from "../../../core/wallet/transactions.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { pageShown, table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { MoneyLinks } from "./money.tsx";

/** What moved a wallet, as lists of one partner and of all have it. */
export const movementColumns = ({ may }: ConsoleVisit): Column<WalletTransaction>[] => [
  { title: "When", cell: (one) => ({ time: one.created_at }) },
  { title: "What", cell: (one) => one.kind },
  { title: "Amount", right: true, cell: (one) => ({ money: one.amount_cents, currency: one.currency }) },
  { title: "Currency", cell: (one) => one.currency },
  {
    title: "Balance after it",
    right: true,
    cell: (one) => ({ money: one.balance_after_cents, currency: one.currency }),
  },
  {
    title: "Order",
    cell: ({ order_id: id, order_number: number }) =>
      id === null || !may("orders.read") ? number : { text: number ?? id, to: `/orders/${encodeURIComponent(id)}` },
  },
  { title: "Reference", cell: (one) => one.reference },
];

const columnsOf = (visit: ConsoleVisit): Column<ListedTransaction>[] => {
  const [when, ...others] = movementColumns(visit);
  const partner: Column<ListedTransaction> = {
    title: "Partner",
    cell: (one) => ({ text: one.partner, to: `/partners/${one.partner}` }),
  };
  return [...(when === undefined ? [] : [when]), partner, ...others, { title: "Transaction", cell: (one) => one.id }];
};

interface LedgerPage {
  partner: string | undefined;
  currency: string | undefined;
  limit: number;
  cursor: string | undefined;
}

/** A page of the ledger; nothing of a partner that there is not. */
async function ledger(q: Read, { partner, ...asked }: LedgerPage) {
  if (partner === undefined) return listAllTransactions(q, asked);
  const row = await findPartner(q, partner);
  return row === null ? null : listAllTransactions(q, { ...asked, partnerId: row.id });
}

function ledgerPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Ledger",
    path: "/money/ledger",
    caption: "Ledger",
    columns: columnsOf(visit),
    filters: [
      { name: "partner", label: "Partner" },
      { name: "currency", label: "Currency" },
    ],
    read: async (page, { partner, currency }) =>
      (await visit.store.list(ledger, { partner, currency: currency?.toUpperCase(), ...page })) ?? [],
    empty: "No money has moved that fits. A partner is named as in its address, a currency by three letters.",
    above: <MoneyLinks visit={visit} />,
  });
}

/** All that is compared, on one snapshot. */
async function compared(q: Read) {
  const { wallets, ...checked } = await checkWallets(q, { minimum: () => null });
  const credit = await checkCredit(q, null);
  const after = await checkBalancesAfter(q, null);
  return { ...checked, wallets, credit, after, ok: checked.ok && credit.length === 0 && after.length === 0 };
}

async function checkPage(visit: ConsoleVisit): Promise<Shown> {
  const found = await visit.store.list(compared, null);
  const differing = [
    ...found.unbalanced.map((id) => `Transaction ${id} does not sum to zero.`),
    ...found.credit.map(({ partner, currency, used_cents, ledger_cents }) => {
      const [used, has] = [moneyWords(used_cents, currency), moneyWords(ledger_cents, currency)];
      return `${partner}: ${used} are drawn on credit, and the ledger has ${has}.`;
    }),
    ...found.after.map(({ id, partner, currency, balance_after_cents, ledger_cents }) => {
      const [after, not] = [moneyWords(balance_after_cents, currency), moneyWords(ledger_cents, currency)];
      return `Transaction ${id} of ${partner} has ${after} after it, not ${not}.`;
    }),
  ];
  const body = (
    <>
      <MoneyLinks visit={visit} />
      {found.ok ? (
        <p class="alert good">The ledger and all balances agree.</p>
      ) : (
        <div class="alert bad" role="alert">
          <p>The ledger and the balances differ.</p>
          <ul>
            {differing.map((words) => (
              <li>{words}</li>
            ))}
          </ul>
        </div>
      )}
      {table(
        visit,
        { caption: "Balances beside their ledger", rows: found.wallets, empty: "There are no wallets yet." },
        [
          { title: "Partner", cell: ({ partner }) => ({ text: partner, to: `/partners/${partner}` }) },
          { title: "Balance", right: true, cell: (one) => ({ money: one.balance_cents, currency: one.currency }) },
          { title: "Ledger", right: true, cell: (one) => ({ money: one.ledger_cents, currency: one.currency }) },
          { title: "State", cell: (one) => (one.ok ? "agrees" : "differs") },
        ],
      )}
    </>
  );
  return pageShown(visit, "Check", body);
}

export const ledgerPages = [
  consolePage({ path: "/money/ledger", needs: "money.read", show: ledgerPage }),
  consolePage({ path: "/money/check", needs: "money.read", show: checkPage }),
];
