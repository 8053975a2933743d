import { MOST_REFUSED, type Refusal, refusedRequests } from "../../../core/insight/refusals.ts";
import { type ProblemSlug, problems } from "../../../core/kernel/problem.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { portalPage } from "../../session/page.ts";
import type { PortalVisit, Shown } from "../../session/visit.ts";

const PATH = "/developers/refused";

function isSlug(slug: string): slug is ProblemSlug {
  return Object.hasOwn(problems, slug);
}

const columnsOf = ({ context: { addresses } }: PortalVisit): Column<Refusal>[] => [
  { title: "When", cell: (one) => ({ time: one.at }) },
  { title: "Request", cell: (one) => `${one.method} ${one.route}` },
  { title: "Status", right: true, cell: (one) => String(one.status) },
  { title: "Why", cell: ({ problem }) => ({ text: problem, href: `${addresses.publicUrl}/docs/errors/${problem}` }) },
  // A slug of an earlier version may be none any more.
  { title: "What to do", cell: ({ problem }) => (isSlug(problem) ? problems[problem].hint : null) },
  { title: "Client", cell: ({ client_id: id }) => ({ text: id, to: `/developers/credentials/${id}` }) },
  { title: "Request ID", cell: (one) => one.request_id },
];

function refusedPage(visit: PortalVisit): Promise<Shown> {
  const { owner, store } = visit;
  return listed(visit, {
    ...{ path: PATH, title: "Refused requests", columns: columnsOf(visit) },
    read: () => store.list(refusedRequests, owner),
    empty: "No request was refused. A new one is listed here within seconds.",
    above: (
      <p>
        Requests in the {owner.environment} environment that were refused in the last 24 hours, the newest{" "}
        {MOST_REFUSED}. Nothing of their queries and bodies is kept. Requests without a token that is yours are not
        here, nor those of a credential that was revoked or may not be used from their address.
      </p>
    ),
  });
}

export const refusedPages = [portalPage({ path: PATH, needs: "developers.read", show: refusedPage })];
