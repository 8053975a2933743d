import type { PartnerId } from "../kernel/brand.ts";
import { requireCurrency } from "../kernel/money.ts";
import { monthAt, monthSpan } from "../kernel/month.ts";
import { type Pagination, type Position, pageOf } from "../kernel/page.ts";
import type { Read } from "../store/store.ts";
import { type ChainedWallet, chainedWallets, numberedMovement, type Place, placeOf } from "./places.ts";
import { type StatementFigures, statementOf, type WalletMonth } from "./statement.ts";

/** Which of a partner's statements, and the page. */
export interface StatementFilter {
  partnerId: PartnerId;
  currency?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/**
 * A page of a partner's statements: each wallet's from the month of its first movement to the present one, newest
 * first. Throws `invalid_cursor`, `validation` for an unknown currency.
 */
export async function listStatements(
  q: Read,
  { partnerId, currency, limit, cursor }: StatementFilter,
): Promise<{ data: StatementFigures[]; pagination: Pagination }> {
  if (currency !== undefined) requireCurrency(currency);
  const wallets = (await chainedWallets(q, partnerId)).filter((one) => (currency ?? one.currency) === one.currency);
  const months: WalletMonth[] = [];
  for (const wallet of wallets) months.push(...(await monthsOf(q, wallet)));
  months.sort(newestFirst);
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "statements", partner: partnerId, currency }, start: LATEST },
    async (window) => months.filter((one) => isAfter(one, window)).slice(0, window.limit),
    ({ month, wallet }): Position<string> => ({ key: month, id: wallet.currency }),
  );
  const placeAt = rememberedPlaces(q);
  const data: StatementFigures[] = [];
  for (const one of rows) data.push((await statementOf(q, one, (moment) => placeAt(one.wallet, moment))).figures);
  return { data, pagination };
}

async function monthsOf(q: Read, wallet: ChainedWallet): Promise<WalletMonth[]> {
  // A credit line opens a wallet before money moves.
  if (wallet.end.count === 0) return [];
  const { at } = await numberedMovement(q, wallet, 1);
  const months: WalletMonth[] = [];
  for (let moment = at; ; ) {
    const month = monthAt(moment);
    const span = monthSpan(month);
    if (span === null || span.from > q.now) return months;
    months.push({ wallet, month, span });
    moment = span.until;
  }
}

/** Before every month. */
const LATEST: Position<string> = { key: "~", id: "" };

function isAfter({ month, wallet }: WalletMonth, { key, id }: Position<string>): boolean {
  return month === key ? wallet.currency > id : month < key;
}

function newestFirst(one: WalletMonth, other: WalletMonth): number {
  if (one.month !== other.month) return one.month < other.month ? 1 : -1;
  return one.wallet.currency < other.wallet.currency ? -1 : 1;
}

/** `placeOf` that looks once for the end of a month and the beginning of the next one. */
function rememberedPlaces(q: Read): (wallet: ChainedWallet, moment: number) => Promise<Place> {
  const known = new Map<string, Place>();
  return async (wallet, moment) => {
    const name = `${wallet.currency} ${moment}`;
    const place = known.get(name) ?? (await placeOf(q, wallet, moment));
    known.set(name, place);
    return place;
  };
}
