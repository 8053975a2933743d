import type { AuditLine, concernedBy } from "../../../core/audit/list.ts";
import type { Store } from "../../../core/store/store.ts";
import { timesOf } from "../../frame/all-partners.ts";
import { command } from "../../frame/command.ts";
import { pagesOf } from "../../frame/list-command.ts";
import { excluding, flag, integer, text } from "../../kernel/input.ts";
import { since as sinceOption } from "../../kernel/input-time.ts";
import type { Column } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";

/** Lines unless --limit or --all says otherwise. */
const LINES = 100;

/** The columns; partners are known to people by their slugs, which `slugs` has by id. */
function columnsWith(slugs: ReadonlyMap<string, string>, concerns: typeof concernedBy): Column<AuditLine>[] {
  const slugOf = (id: string) => slugs.get(id) ?? id;
  return [
    { title: "at", value: (line) => moment(line.at) },
    { title: "who", value: (line) => line.actor, spare: 3 },
    { title: "did", value: (line) => line.action },
    {
      title: "to",
      shrinks: true,
      value: ({ target_kind, target_id }) =>
        `${target_kind} ${target_kind === "partner" ? slugOf(target_id) : target_id}`,
    },
    { title: "partner", value: ({ partner_id }) => (partner_id === null ? null : slugOf(partner_id)), spare: true },
    { title: "fields", value: (line) => concerns(line).join(", ") || null, wraps: true, spare: 2 },
    { title: "note", value: (line) => line.note, wraps: true, spare: 1 },
  ];
}

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only.",
  json:
    "{data: [{id, at, actor, action, target_kind, target_id, partner_id, fields, changes: [{field, from, to}], " +
    "note, request_id}], count}",
  examples: ["audit list --since 24h", "audit list --target acme --all --json"],
  args: {},
  options: {
    target: text("--target <id>", "only what was done to this: an id, a partner's slug or an order's number"),
    since: sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h for that long ago"),
    until: sinceOption("--until <time>", "before this time, given in the same way"),
    limit: integer("--limit <n>", "lines to show (default 100)", { min: 1, max: 10_000 }),
    all: excluding(flag("--all", "every line, without a limit"), "--limit"),
  },
  async run(context, { target, since, until, limit, all }) {
    return context.withStore(async ({ store, clock }) => {
      const slugs = await slugsById(store);
      const filter = {
        target: target === undefined ? undefined : await idOf(store, slugs, target),
        ...timesOf({ since, until }, clock.now()),
      };
      const { concernedBy, listAudit } = await import("../../../core/audit/list.ts");
      const page = async (count: number, before: AuditLine | undefined) => {
        const data = await store.read(listAudit, { ...filter, limit: count, before });
        return { data, next: data.length < count ? null : (data.at(-1) ?? null) };
      };
      const { pages } = pagesOf(page, { most: all ? Number.POSITIVE_INFINITY : (limit ?? LINES) });
      const look = { columns: columnsWith(slugs, concernedBy), empty: "Nothing was recorded." };
      return context.print({ ...look, key: "data", pages, rest: (count) => ({ count }) });
    });
  },
});

/** The id behind a partner's slug or an order's number; anything else is an id itself. */
async function idOf(store: Store, slugs: ReadonlyMap<string, string>, target: string): Promise<string> {
  const { orderIdByNumber } = await import("../../../core/orders/order.ts");
  const partner = [...slugs].find(([, slug]) => slug === target)?.[0];
  return partner ?? (await store.read(orderIdByNumber, target)) ?? target;
}

async function slugsById(store: Store): Promise<Map<string, string>> {
  const { listPartners } = await import("../../../core/partners/partner.ts");
  return new Map((await store.read(listPartners, null)).map(({ id, slug }) => [id, slug]));
}
