import type { ProductId } from "../kernel/brand.ts";
import type { Read } from "../store/store.ts";
import { faultsOf, type Passage, passageOf } from "./circuit.ts";
import { type SourceRow, sourcesOf } from "./sources.ts";

/** Where a unit is bought next. */
export type Route =
  /** `reason` says why there, for people. */
  | { kind: "buy"; source: SourceRow; reason: string }
  /** No source can be asked just now; `until` (ms) is when the first one can, null: that is not known. */
  | { kind: "later"; until: number | null; reason: string }
  /** Each source has refused it, or there is none. */
  | { kind: "none" };

/** What a unit is to be bought of, and where not, if it can be helped. */
interface Asked {
  productId: ProductId;
  refusedBy: readonly string[];
  /** Where it cannot be bought just now; `why` says so behind the supplier's name. */
  avoid?: { supplier: string; why: string };
}

interface Candidate {
  source: SourceRow;
  passage: Passage;
  faults: number;
}

/**
 * Picks the source of a unit: of those that have not refused it and whose circuit is not open, the one with the lowest
 * priority, then the lowest cost (if both are in one currency), then the fewest recent faults.
 */
export async function routeUnit(q: Read, input: Asked): Promise<Route> {
  const sources = (await sourcesOf(q, input.productId)).filter(({ status }) => status === "active");
  const left = sources.filter(({ supplier }) => !input.refusedBy.includes(supplier));
  if (left.length === 0) return { kind: "none" };
  const candidates: Candidate[] = [];
  for (const source of left) {
    const passage = await passageOf(q, source.supplier);
    candidates.push({ source, passage, faults: await faultsOf(q, source.supplier) });
  }
  const passing = candidates.filter(({ passage }) => !passage.open).toSorted(better);
  const best = passing.find(({ source }) => source.supplier !== input.avoid?.supplier) ?? passing[0];
  if (best !== undefined) return { kind: "buy", source: best.source, reason: reasonOf(best, candidates, input) };
  const times = candidates.flatMap(({ passage }) => (passage.open && passage.until !== null ? [passage.until] : []));
  const reason = candidates.flatMap(({ source, passage }) => (passage.open ? [words(source, passage.reason)] : []));
  return { kind: "later", until: times.length === 0 ? null : Math.min(...times), reason: reason.join("; ") };
}

function better(a: Candidate, b: Candidate): number {
  if (a.source.priority !== b.source.priority) return a.source.priority - b.source.priority;
  const comparable = a.source.currency !== null && a.source.currency === b.source.currency;
  const [one, other] = [a.source.cost, b.source.cost];
  if (comparable && one !== null && other !== null && one !== other) return one - other;
  return a.faults - b.faults || (a.source.supplier < b.source.supplier ? -1 : 1);
}

function reasonOf(best: Candidate, candidates: readonly Candidate[], { refusedBy, avoid }: Asked): string {
  const before = candidates.filter((one) => one !== best && better(one, best) < 0);
  const why = [
    ...refusedBy.map((name) => `${name} refused`),
    ...before.flatMap(({ source, passage }) =>
      passage.open ? [words(source, `circuit open: ${passage.reason}`)] : [],
    ),
    ...before.flatMap(({ source, passage }) =>
      source.supplier === avoid?.supplier && !passage.open ? [`${avoid.supplier} ${avoid.why}`] : [],
    ),
  ];
  return [`priority ${best.source.priority}`, ...why].join("; ");
}

function words({ supplier }: SourceRow, reason: string): string {
  return `${supplier} (${reason})`;
}
