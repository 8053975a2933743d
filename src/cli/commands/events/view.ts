import type { FeedEvent } from "../../client/answers.ts";
import { clean } from "../../output/clean.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";

/** The keys of an event's JSON. */
export const EVENT_JSON = "{event, event_id, timestamp, data}";

export const eventColumns: Column<FeedEvent>[] = [
  { title: "time", value: (one) => moment(one.timestamp) },
  { title: "event", value: (one) => one.event },
  { title: "about", value: aboutOf, shrinks: true, spare: 1 },
  { title: "id", value: (one) => one.event_id, spare: 2 },
];

/** What an event is about, by the number that a person knows. */
function aboutOf({ data }: FeedEvent): string | null {
  const known = data.order_number ?? data.iccid ?? data.id ?? null;
  return typeof known === "string" ? known : null;
}

/** One event as a line for people. */
export function eventLine({ paint }: Sheet, one: FeedEvent): string {
  const about = clean(aboutOf(one) ?? "");
  const head = `${paint.dim(moment(one.timestamp))}  ${paint.bold(clean(one.event))}`;
  return `${head}  ${about}  ${paint.dim(clean(one.event_id))}`;
}
