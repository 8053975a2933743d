import type { ComponentChildren } from "preact";
import type { PriceMove, RuleMoves } from "../../../core/partners/prices.ts";
import { table } from "../../parts/shown.tsx";
import type { ConsoleVisit } from "../../session/visit.ts";

/** The products whose price changes, with both prices: as many as `most`, and how many more there are. */
export function priceMovesShown(
  visit: ConsoleVisit,
  moves: readonly PriceMove[],
  { caption, empty, most }: { caption: string; empty: string; most: number },
): ComponentChildren {
  return [
    table(visit, { caption, rows: moves.slice(0, most), empty }, [
      { title: "SKU", cell: ({ sku }) => sku },
      { title: "Name", cell: ({ name }) => name },
      { title: "Now", right: true, cell: ({ now_cents: money, currency }) => ({ money, currency }) },
      { title: "Then", right: true, cell: ({ then_cents: money, currency }) => ({ money, currency }) },
    ]),
    moves.length > most && <p>And {moves.length - most} more.</p>,
  ];
}

/** Products that the preview of a rule names. */
const MOST_MOVES = 20;

/** What a change of a rule changes: the products whose price moves, on which day, for a line of how many units. */
export function ruleMovesShown(visit: ConsoleVisit, { quantity, day, moves }: RuleMoves): ComponentChildren {
  const units = quantity === 1 ? "" : `, at ${quantity} units of a line`;
  const caption = `Products whose price changes on ${day} (UTC)${units}`;
  return priceMovesShown(visit, moves, { caption, empty: "It changes the price of no product.", most: MOST_MOVES });
}
