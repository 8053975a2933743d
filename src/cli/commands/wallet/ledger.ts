import { systemClock } from "../../../core/kernel/clock.ts";
import type { LedgerEntry } from "../../../core/wallet/ledger.ts";
import { moreNote } from "../../client/pages.ts";
import { timesOf } from "../../frame/all-partners.ts";
import { command } from "../../frame/command.ts";
import { pagesOf } from "../../frame/list-command.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { since } from "../../kernel/input-time.ts";
import type { Column } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";
import { partnerOption } from "../../place/partner-options.ts";

const columns: Column<LedgerEntry>[] = [
  { title: "at", value: (entry) => moment(entry.created_at) },
  { title: "kind", value: (entry) => entry.kind },
  { title: "amount", value: (entry, sheet) => sheet.money(entry.amount_cents, entry.currency), align: "right" },
  { title: "postings", value: (entry, sheet) => postings(entry, sheet.money), wraps: true, spare: 2 },
  { title: "reference", value: (entry) => entry.reference, wraps: true, spare: 1 },
  { title: "transaction", value: (entry) => entry.id, spare: true },
];

function postings(entry: LedgerEntry, money: (cents: number, currency: string) => string): string {
  return entry.postings
    .map(({ account, amount_cents }) => {
      const name = account.startsWith("wallet:") ? "wallet" : account;
      return `${name} ${amount_cents < 0 ? "" : "+"}${money(amount_cents, entry.currency)}`;
    })
    .join(", ");
}

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only.",
  json:
    "{data: [{id, kind, currency, amount_cents, order_id, reference, created_at, " +
    "postings: [{account, amount_cents}]}], count, next_cursor}",
  examples: ["wallet ledger --partner acme", "wallet ledger --partner acme --all --json"],
  args: {},
  options: {
    partner: partnerOption,
    limit: integer("--limit <n>", "transactions a page (default 20)", { min: 1, max: 1000 }),
    cursor: text("--cursor <cursor>", "where the next page starts"),
    all: flag("--all", "all pages"),
    since: since("--since <time>", "at this time or later: 2026-03-01 (UTC), 2026-03-01T12:00:00Z, or 24h ago"),
    until: since("--until <time>", "before this time, given in the same way"),
  },
  async run(context, { partner, limit = 20, cursor, all, ...given }) {
    const times = timesOf(given, systemClock.now());
    const [{ listLedger }, { requirePartner }] = await Promise.all([
      import("../../../core/wallet/ledger.ts"),
      import("../../../core/partners/partner.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const { id: partnerId } = await store.read(requirePartner, partner);
      const page = async (count: number, after: string | undefined) => {
        const { data, next_cursor } = await store.read(listLedger, {
          partnerId,
          limit: count,
          cursor: after,
          ...times,
        });
        return { data, next: next_cursor };
      };
      const span = all ? { size: 1000, after: cursor } : { most: limit, size: limit, after: cursor };
      const { pages, next } = pagesOf(page, span);
      const look = { columns, empty: "No money has moved yet.", note: () => moreNote(next()) };
      return context.print({ ...look, key: "data", pages, rest: (count) => ({ count, next_cursor: next() }) });
    });
  },
});
