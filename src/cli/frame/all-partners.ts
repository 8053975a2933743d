import { isoTime } from "../../core/kernel/clock.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { OverAll } from "../../core/kernel/list-filter.ts";
import type { Pagination } from "../../core/kernel/page.ts";
import type { Read } from "../../core/store/store.ts";
import { listOptions, moreNote } from "../client/pages.ts";
import { CliError } from "../kernel/errors.ts";
import { text, type ValuesOf } from "../kernel/input.ts";
import { momentOf, since } from "../kernel/input-time.ts";
import type { Column } from "../output/sheet.ts";
import type { Context } from "./command.ts";
import { pagesOf } from "./list-command.ts";

/** What lists over all partners take. */
export const allPartnersOptions = {
  ...listOptions,
  since: since("--since <time>", "created at this time or later: 2026-03-01 (UTC), 2026-03-01T12:00:00Z, or 24h ago"),
  until: since("--until <time>", "created before this time, given in the same way"),
  customer: text("--customer <who>", "operators only: an e-mail address, or how a name or one of its words begins"),
};

type Given = ValuesOf<typeof allPartnersOptions>;

/** The moments (ms) between which records were created. */
export function timesOf(given: Pick<Given, "since" | "until">, now: number) {
  const at = (typed: Given["since"]) => (typed === undefined ? undefined : momentOf(typed, now));
  return { since: at(given.since), until: at(given.until) };
}

/** A moment (ms) as the API's filters take it; left out stays left out. */
export function isoOf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : isoTime(at);
}

/** Whether a command lists over all partners: on the operator's data without --partner, or for one of its customers. */
export async function isOfAllPartners(context: Context, { customer }: Pick<Given, "customer">): Promise<boolean> {
  if ((await context.where()).kind !== "server") return context.actsFor.partner === undefined || customer !== undefined;
  if (customer === undefined) return false;
  const hint = "There, esimctl find and the other filters narrow it down: see --help.";
  throw new CliError("operator_only", "--customer works on the operator's data only, not at a server.", hint);
}

interface Page<T> {
  data: T[];
  count: number;
  pagination: Pagination;
}

/** How a list over all partners reads and prints its rows. */
interface Listed<F extends Partial<OverAll>, T extends object> {
  filter: F;
  page(q: Read, filter: F & Pick<OverAll, "limit" | "cursor" | "environment" | "partnerId">): Promise<Page<T>>;
  columns: readonly Column<T>[];
  empty: string;
}

/** Rows at a time of --all. */
const PAGE = 100;

/** Prints one page, or with --all every page, of a list over all partners or of one of them. */
export async function listOfAllPartners<F extends Partial<OverAll>, T extends object>(
  context: Context,
  { limit = 20, cursor, all }: Given,
  { filter, page, columns, empty }: Listed<F, T>,
): Promise<null> {
  const { partner, sandbox } = context.actsFor;
  const environment: Environment = sandbox ? "sandbox" : "production";
  return context.withStore(async ({ store }) => {
    const { requirePartner } = await import("../../core/partners/partner.ts");
    const partnerId = partner === undefined ? undefined : (await store.read(requirePartner, partner)).id;
    const span = all ? { size: PAGE } : { most: limit, size: limit };
    const { pages, next } = pagesOf<T, string>(
      async (count, after) => {
        const asked = { ...filter, environment, partnerId, limit: count, cursor: after };
        const { data, pagination } = await store.read(page, asked);
        return { data, next: pagination.next_cursor };
      },
      { ...span, after: cursor },
    );
    const rest = (count: number) => {
      const next_cursor = next();
      return { count, pagination: { has_more: next_cursor !== null, next_cursor, count } };
    };
    return context.print({ key: "data", pages, columns, empty, rest, note: () => moreNote(next()) });
  });
}
