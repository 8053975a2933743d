import type { ComponentChildren } from "preact";
import { staffNames } from "../../../core/accounts/staff-names.ts";
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
  return timelineShown(visit, await visit.store.read(storyOf, target));
}
