import type { ComponentChildren } from "preact";
import { Timeline } from "../../parts/timeline.tsx";
import type { ConsoleVisit } from "../../session/visit.ts";
import { storyOf } from "./audit-history.ts";

/** What the audit trail has of one thing, as its history. */
export async function historyShown(visit: ConsoleVisit, target: string): Promise<ComponentChildren> {
  return <Timeline visit={visit} moments={await visit.store.read(storyOf, target)} />;
}
