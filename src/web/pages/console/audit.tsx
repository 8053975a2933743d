import { staffNames } from "../../../core/accounts/staff-names.ts";
import { type AuditLine, concernedBy } from "../../../core/audit/list.ts";
import { type AuditSearch, auditPage } from "../../../core/audit/page.ts";
import { orderIdByNumber } from "../../../core/orders/order.ts";
import { listPartners } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { ActButton } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { LinkButton } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { exportFile, exportForm } from "./audit-export.tsx";
import { verifyPage } from "./audit-verify.tsx";

const DAY_MS = 86_400_000;
const PATH = "/platform/audit";

interface Found {
  lines: AuditLine[];
  next: string | null;
  slugs: Map<string, string>;
  names: Map<string, string>;
}

type Search = Omit<AuditSearch, "partnerId"> & { partner: string | undefined };

/** Lines, with the slugs of partners by id and the names of staff by actor. A target may be a slug or a number. */
async function search(q: Read, { partner, target, ...rest }: Search): Promise<Found> {
  const slugs = new Map<string, string>();
  let [partnerId, about] = [undefined as AuditSearch["partnerId"], target];
  for (const { id, slug } of await listPartners(q, null)) {
    slugs.set(id, slug);
    if (slug === partner) partnerId = id;
    if (slug === target) about = id;
  }
  if (partner !== undefined && partnerId === undefined) return { lines: [], next: null, slugs, names: new Map() };
  if (target !== undefined && about === target) about = (await orderIdByNumber(q, target)) ?? target;
  const page = await auditPage(q, { ...rest, partnerId, target: about });
  const actors = page.lines.map(({ actor }) => actor);
  return { ...page, slugs, names: await staffNames(q, actors) };
}

type Line = AuditLine & { partner: string | null; name: string | null };

const columns: readonly Column<Line>[] = [
  { title: "When", cell: (one) => ({ time: one.at }) },
  { title: "Who", cell: ({ name, actor }) => (name === null ? actor : `${name}, ${actor}`) },
  { title: "Did", cell: (one) => one.action },
  { title: "To", cell: (one) => `${one.target_kind} ${one.target_id}` },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Fields", cell: (one) => concernedBy(one).join(", ") },
  { title: "Note", cell: (one) => one.note },
  {
    title: "Request",
    cell: ({ request_id: id }) =>
      id === null ? null : { text: id, to: `/platform/logs?request_id=${encodeURIComponent(id)}` },
  },
];

async function listPage(visit: ConsoleVisit): Promise<Shown> {
  const startOf = (day: string | undefined) => (day === undefined ? undefined : Date.parse(day));
  return listed(visit, {
    title: "Audit trail",
    path: PATH,
    caption: "Audit trail",
    columns,
    filters: [
      { name: "partner", label: "Partner (slug)" },
      { name: "actor", label: "Who (begins with)" },
      { name: "action", label: "Did (begins with)" },
      { name: "target", label: "To (id, slug or number)" },
      { name: "since", label: "From (UTC day)", type: "date" },
      { name: "until", label: "To (UTC day)", type: "date" },
    ],
    read: async (page, { since, until: last, ...asked }) => {
      // The last day is shown whole.
      const until = last === undefined ? undefined : Date.parse(last) + DAY_MS;
      const found = await visit.store.list(search, { ...asked, since: startOf(since), until, ...page });
      const { lines, next, slugs, names } = found;
      const named = (id: string | null) => (id === null ? null : (slugs.get(id) ?? id));
      const rows = lines.map((line): Line => {
        return { ...line, partner: named(line.partner_id), name: names.get(line.actor) ?? null };
      });
      return { rows, next };
    },
    empty: "Nothing that was recorded fits.",
    emptyPage: "None of the newest lines fit; the next page looks on.",
    above: [
      <div class="acts">
        <ActButton visit={visit} to={`${PATH}/verify`} label="Verify the chains" slow />
        <LinkButton visit={visit} to="/platform" words="Platform" />
      </div>,
      exportForm(visit),
    ],
  });
}

/** What was done, by whom, and whether it is as it was written. */
export const auditPages = [
  consolePage({ path: PATH, needs: "platform.read", show: listPage }),
  consolePage({ path: `${PATH}/verify`, needs: "platform.read", act: verifyPage }),
  // Who may read the platform may read money too: the ledger is in it.
  consolePage({ path: `${PATH}/export`, needs: "platform.read", act: exportFile, again: listPage }),
];
