import type { ComponentChildren } from "preact";
import { type AuditLine, auditOfRequest } from "../../../core/audit/list.ts";
import { findStory, foundNothing, type Story } from "../../../core/find/find.ts";
import type { Read } from "../../../core/store/store.ts";
import { backLink, LinkButton, pageShown, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, field, type Shown } from "../../session/visit.ts";
import { auditColumns } from "./audit-history.ts";
import { timelineShown } from "./history.tsx";

interface Recorded {
  audit: AuditLine[];
  moments: Story["timeline"];
}

/**
 * What the records name a request for. A search finds whole stories, by names and numbers too: only moments that carry
 * the very id are kept, so that nothing else shows here.
 */
async function recordedOf(q: Read, requestId: string): Promise<Recorded> {
  const audit = (await auditOfRequest(q, requestId)).toReversed();
  const story = await findStory(q, requestId).catch((error: unknown) => {
    if (foundNothing(error)) return null;
    throw error;
  });
  const moments = (story?.timeline ?? []).filter(
    ({ request_id, kind }) => request_id === requestId && kind !== "audit",
  );
  return { audit, moments };
}

async function logsPage(visit: ConsoleVisit): Promise<Shown> {
  const { store, base, query } = visit;
  const requestId = field(query, "request_id");
  const found = requestId === "" ? null : await store.read(recordedOf, requestId);
  const body = (
    <>
      <form method="get" action={`${base}/platform/logs`} class="filters">
        <label for="request-id">
          Request ID
          <input id="request-id" type="search" name="request_id" value={requestId || undefined} required />
        </label>
        <button type="submit" class="plain">
          Look up
        </button>
      </form>
      {found !== null && (await foundShown(visit, found))}
      {found !== null && visit.may("logs.read") && (
        <div class="acts">
          <LinkButton
            visit={visit}
            to={`/platform/logs/lines?request_id=${encodeURIComponent(requestId)}`}
            words="Lines of the log"
          />
        </div>
      )}
      <p class="hint">
        A request has its ID in the header <code>X-Request-Id</code>, and on the page that refused it. Here is what it
        changed. The log, which admins see, has the lines of every request, for as long as it is kept.
      </p>
      {backLink(visit, "/platform", "Platform")}
    </>
  );
  return pageShown(visit, "What the records say of a request", body);
}

async function foundShown(visit: ConsoleVisit, { audit, moments }: Recorded): Promise<ComponentChildren> {
  const lines = { title: "Audit trail", caption: "Lines of the audit trail", rows: audit };
  return [
    table(visit, { ...lines, empty: "Nothing is recorded under this ID." }, auditColumns),
    await timelineShown(visit, moments),
  ];
}

/** What is recorded under the id of a request. */
export const logPages = [consolePage({ path: "/platform/logs", needs: "platform.read", show: logsPage })];
