import type { ComponentChildren } from "preact";
import type { PriceMove } from "../../../core/partners/prices.ts";
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
