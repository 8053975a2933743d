import { clean } from "../../output/clean.ts";
import type { Sheet } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";
import type { ReceivedEvent } from "./listener.ts";

const faults = {
  header_form: "the X-Webhook-Signature header is missing or in another form",
  too_old: "it was signed more than 300 seconds ago",
  in_the_future: "its time is more than 300 seconds ahead",
  signature: "the signature does not fit body and secret",
  not_json: "the body is not an event",
} as const;

/** One event as a person reads it: a line of what it is, then its data, a name and a value a line. */
export function shownEvent(sheet: Sheet, event: ReceivedEvent): string {
  const { paint } = sheet;
  const when = paint.dim(moment(event.received_at));
  const what = `${paint.bold(clean(event.event ?? "(no event)"))} ${paint.dim(clean(event.event_id ?? ""))}`;
  const verdict = event.fault === null ? paint.green("signature ok") : paint.red(`refused: ${faults[event.fault]}`);
  const head = `${when}  ${what}  ${verdict}`;
  const fields = Object.entries(event.data ?? {}).map(([name, value]) => [name, valueText(value)]);
  return fields.length === 0 ? head : `${head}\n${indented(sheet.fields(Object.fromEntries(fields)))}\n`;
}

function valueText(value: unknown): string {
  return clean(typeof value === "string" ? value : JSON.stringify(value));
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
