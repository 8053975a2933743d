import { type AuditLine, concernedBy } from "../../../core/audit/list.ts";
import { auditStory } from "../../../core/find/stories.ts";
import type { Read } from "../../../core/store/store.ts";
import type { Column } from "../../parts/list.tsx";
import { shownMoments, type TimelineMoment } from "../../parts/timeline.tsx";

/** The same line for staff who may not see what a partner has: its amounts are left out. */
function withoutAmounts(line: AuditLine): AuditLine {
  const changes = line.changes?.filter(({ field }) => !/_cents\b/.test(field)) ?? null;
  return { ...line, changes, note: line.target_kind === "ledger_transaction" ? null : line.note };
}

/** Lines of the audit trail, which are read newest first, as the history of a record. */
export function auditHistory(lines: readonly AuditLine[], { money }: { money: boolean }): TimelineMoment[] {
  const shown = money ? lines : lines.map(withoutAmounts);
  return shown.toReversed().map(({ at, action, actor, target_kind, target_id, note, ...what }) => {
    const about = target_kind === "partner" || target_kind === "funding_request" ? "" : ` ${target_id}`;
    const words = [`${action}${about} by ${actor}`, concernedBy(what).join(", "), note ?? ""];
    return { at, kind: "audit", text: words.filter((part) => part !== "").join(": ") };
  });
}

/** What the audit trail has of one thing, oldest first. */
export async function storyOf(q: Read, target: string): Promise<TimelineMoment[]> {
  return shownMoments((await auditStory(q, target)).toReversed());
}

/** Columns of lines of the audit trail. */
export const auditColumns: readonly Column<AuditLine>[] = [
  { title: "When", cell: (one) => ({ time: one.at }) },
  { title: "Who", cell: (one) => one.actor },
  { title: "Did", cell: (one) => one.action },
  { title: "To", cell: (one) => `${one.target_kind} ${one.target_id}` },
  { title: "Fields", cell: (one) => concernedBy(one).join(", ") },
  { title: "Note", cell: (one) => one.note },
];
