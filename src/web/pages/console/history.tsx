import type { ComponentChildren } from "preact";
import { staffNames } from "../../../core/accounts/staff-names.ts";
import { MOST_LINES } from "../../../core/find/stories.ts";
import { Timeline, type TimelineMoment } from "../../parts/timeline.tsx";
import type { ConsoleVisit } from "../../session/visit.ts";
import { storyOf } from "./audit-history.ts";

const ACTOR = /user:[0-9a-f-]{36}/g;

/** What happened to a record, oldest first, with the names of the operator's own staff. */
export async function timelineShown(
  visit: ConsoleVisit,
  moments: readonly TimelineMoment[],
): Promise<ComponentChildren> {
  const names = await visit.store.read(
    staffNames,
    moments.flatMap(({ text }) => text.match(ACTOR) ?? []),
  );
  const named = (text: string) => text.replaceAll(ACTOR, (actor) => names.get(actor) ?? actor);
  return <Timeline visit={visit} moments={moments.map((one) => ({ ...one, text: named(one.text) }))} />;
}

/** What the audit trail has of one thing, as its history. */
export async function historyShown(visit: ConsoleVisit, target: string): Promise<ComponentChildren> {
  const moments = await visit.store.read(storyOf, target);
  return [await timelineShown(visit, moments), cutShown(visit, { moments, most: MOST_LINES, filter: { target } })];
}

interface Cut {
  moments: readonly TimelineMoment[];
  /** As many are read at most. */
  most: number;
  /** What finds all of them in the audit trail. */
  filter: Record<string, string>;
}

/** That a history has its newest lines alone, where it may have more, and where all of them are. */
export function cutShown(visit: ConsoleVisit, { moments, most, filter }: Cut): ComponentChildren {
  if (moments.length < most) return null;
  const words = `These are the newest ${most} lines.`;
  if (!visit.may("platform.read")) return <p class="hint">{words}</p>;
  return (
    <p class="hint">
      {words}{" "}
      <a href={`${visit.base}/platform/audit?${new URLSearchParams(filter)}`}>The audit trail has all of them</a>.
    </p>
  );
}
