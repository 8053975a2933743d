import { laterBy } from "../../../core/kernel/calendar-day.ts";
import type { Environment } from "../../../core/kernel/environment.ts";
import { decodeCursor, encodeCursor } from "../../../core/kernel/page.ts";
import type { Waiting } from "../../../core/kernel/waiting.ts";
import { listPartners, requirePartner } from "../../../core/partners/partner.ts";
import type { Filter } from "../../parts/list.tsx";
import { calendarDay, chosen, optionalField, type Visit } from "../../session/visit.ts";

/** The filter of a list over all partners by its partner. */
export async function partnerFilter({ store }: Visit) {
  const partners = await store.read(listPartners, null);
  return { name: "partner", label: "Partner", options: partners.map(({ slug }) => [slug, slug] as const) } as const;
}

/** Production is listed unless the sandbox is asked for. */
export const environmentFilter = {
  name: "environment",
  label: "Environment",
  any: "production",
  options: ["sandbox"],
} as const satisfies Filter;

/** The filters of a list over all partners by the day of creation. */
export const dayFilters = [
  { name: "since", label: "From", type: "date" },
  { name: "until", label: "Up to", type: "date" },
] as const satisfies readonly Filter[];

/** What the address or the form of a list over all partners narrows it by. Throws `validation`, `not_found`. */
export async function overAll({ query, form, store }: Visit) {
  const given = { ...query, ...form };
  const slug = optionalField(given, "partner");
  const environment: Environment = chosen(given, "environment", ["production", "sandbox"]) ?? "production";
  return {
    environment,
    partnerId: slug === undefined ? undefined : (await store.read(requirePartner, slug)).id,
    since: startOf(calendarDay(given, "since"), 0),
    // The last day is included.
    until: startOf(calendarDay(given, "until"), 1),
  };
}

/** The moment (ms) at which a day begins in UTC, or one so many days later. */
function startOf(day: string | undefined, later: number): number | undefined {
  return day === undefined ? undefined : Date.parse(`${laterBy(day, later)}T00:00:00Z`);
}

/** Where the next page of a queue begins. */
interface After {
  key: number;
  id: string;
}

type ReadQueue<T> = (limit: number, after: After | undefined) => Promise<{ data: readonly T[]; next: After | null }>;

/**
 * Reads at least `limit` rows of a queue that pass, and are of the partner that the address names, page after page as
 * far as there are so many; the rest by the cursor. Throws `invalid_cursor`.
 */
export function queueOf<T extends { partner: string }>(
  { query }: Visit,
  list: string,
  read: ReadQueue<T>,
  passes = (_row: T) => true,
) {
  const partner = optionalField(query, "partner");
  return async ({ limit, cursor }: { limit: number; cursor: string | undefined }) => {
    const rows: T[] = [];
    let after: After | null | undefined = cursor === undefined ? undefined : decodeCursor(cursor, { list }, 0);
    do {
      const page: Awaited<ReturnType<ReadQueue<T>>> = await read(limit, after ?? undefined);
      rows.push(...page.data.filter((row) => passes(row) && (partner === undefined || row.partner === partner)));
      after = page.next;
    } while (after !== null && rows.length < limit);
    return { rows, next: after === null ? null : encodeCursor(after, { list }) };
  };
}

/** Whom something waits for, in words. */
export function waitingWords(waiting: Waiting | null): string | null {
  if (waiting === null) return null;
  return `${waiting.for === "supplier" ? "supplier's answer: " : ""}${waiting.act} (${waiting.on})`;
}
