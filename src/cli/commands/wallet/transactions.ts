import { systemClock } from "../../../core/kernel/clock.ts";
import type { WalletTransaction } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing, listOptions } from "../../client/pages.ts";
import { isoOf, timesOf } from "../../frame/all-partners.ts";
import { command } from "../../frame/command.ts";
import { excluding, text } from "../../kernel/input.ts";
import { since } from "../../kernel/input-time.ts";
import { movementColumns } from "./movements.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects: "Reads only. Each amount is signed as it changed the wallet, and shown with the balance after it.",
  json:
    "the API's body: {data: [{id, kind, currency, amount_cents, balance_after_cents, reference, order_id, " +
    "order_number, created_at}], pagination}",
  examples: [
    "wallet transactions --partner acme",
    "wallet transactions --currency AUD --since 2026-03-01 --until 2026-04-01 --all --csv",
  ],
  args: {},
  options: {
    ...listOptions,
    currency: text("--currency <code>", "only in this currency"),
    since: since("--since <time>", "at this time or later: 2026-03-01 (UTC), 2026-03-01T12:00:00Z, or 24h ago"),
    until: since("--until <time>", "before this time, given in the same way"),
    from: excluding(since("--from <time>", "as --since"), "--since"),
    to: excluding(since("--to <time>", "as --until"), "--until"),
  },
  async run(context, { limit, cursor, all, currency, from, to, ...given }) {
    const times = timesOf({ since: given.since ?? from, until: given.until ?? to }, systemClock.now());
    const query = {
      limit,
      cursor,
      currency: currency?.toUpperCase(),
      from: isoOf(times.since),
      to: isoOf(times.until),
    };
    const asked = { path: apiPath`/wallet/transactions`, query, all };
    const look = { columns: movementColumns, empty: "No money has moved yet." };
    return context.withApi((api) => context.print(dataListing<WalletTransaction>(api, asked, look)));
  },
});
