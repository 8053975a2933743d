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

/**
 * One event as a person reads it: a line of what it is, then its data, a name and a value a line. `isChecked`: its
 * signature was.
 */
export function eventText(sheet: Sheet, event: ReceivedEvent, { isChecked }: { isChecked: boolean }): string {
  const { paint } = sheet;
  const when = paint.dim(moment(event.received_at));
  const what = `${paint.bold(clean(event.event ?? "(no event)"))} ${paint.dim(clean(event.event_id ?? ""))}`;
  const verdict = event.fault === null ? paint.green("signature ok") : paint.red(`refused: ${faults[event.fault]}`);
  const line = isChecked ? `${when}  ${what}  ${verdict}` : `${when}  ${what}`;
  const head = [line, ...forwardWords(sheet, event)].join("\n");
  const fields = Object.entries(event.data ?? {}).map(([name, value]) => [clean(name), valueText(value)]);
  return fields.length === 0 ? head : `${head}\n${indented(sheet.fields(Object.fromEntries(fields)))}\n`;
}

/** How the program behind --forward-to answered. */
function forwardWords({ paint }: Sheet, { forwarded }: ReceivedEvent): string[] {
  if (forwarded === null || forwarded === undefined) return [];
  const { url, status, error, latency_ms, response_body } = forwarded;
  const done = status !== null && status >= 200 && status < 300;
  const answer = (done ? paint.green : paint.red)(status === null ? `no response: ${error}` : `answered ${status}`);
  const body = done || response_body === "" ? "" : `: ${clean(response_body)}`;
  return [`  → ${clean(url)} ${answer} in ${latency_ms} ms${body}`];
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
