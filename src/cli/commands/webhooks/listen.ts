import { command } from "../../frame/command.ts";
import { address, integer, required, text } from "../../kernel/input.ts";
import { clean, cleanJson } from "../../output/clean.ts";
import { readSecretArgument } from "../../output/prompts.ts";
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

export default command({
  target: "process",
  effects:
    "Listens on 127.0.0.1 until it is stopped. Answers 200 to what is signed right, 400 to what is not. --forward-to " +
    "posts what is signed right to another address too, as it came, and answers with the status of the response.",
  json:
    "one line an event: {valid, fault, received_at, event, event_id, timestamp, data}; with --forward-to also " +
    "forwarded: {url, status, error, latency_ms, response_body}, or null",
  examples: [
    "webhooks listen --port 4000 --secret -",
    "webhooks listen --port 4000 --secret whsec_… --json | jq .event",
    "webhooks listen --port 4000 --secret - --forward-to http://127.0.0.1:3000/hooks",
  ],
  stays: true,
  args: {},
  options: {
    port: required(integer("--port <n>", "port to listen on (0: any free one)", { max: 65_535 })),
    secret: required(text("--secret <secret>", "the signing secret; - reads it from standard input or asks"), "secret"),
    forwardTo: address("--forward-to <url>", "post each event that is signed right to this address too"),
  },
  async run(context, { port, secret, forwardTo }) {
    const [{ startListener }, { systemClock }, { makeSheet }] = await Promise.all([
      import("./listener.ts"),
      import("../../../core/kernel/clock.ts"),
      import("../../output/make-sheet.ts"),
    ]);
    const key = await readSecretArgument(secret, "Signing secret", context.globals);
    const { json } = context.globals;
    const sheet = makeSheet(process.stdout, context.globals);
    const listener = await startListener({ port, secret: key, clock: systemClock, forwardTo }, (event) => {
      process.stdout.write(`${json ? cleanJson(event, 0) : shownEvent(sheet, event)}\n`);
    });
    context.note(`listening on ${listener.url} (Ctrl-C stops it)`);
    await new Promise<void>((resolve) => {
      for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => resolve());
    });
    await listener.close();
    return null;
  },
});

/** One event as a person reads it: a line of what it is, then its data, a name and a value a line. */
function shownEvent(sheet: Sheet, event: ReceivedEvent): string {
  const { paint } = sheet;
  const when = paint.dim(moment(event.received_at));
  const what = `${paint.bold(clean(event.event ?? "(no event)"))} ${paint.dim(clean(event.event_id ?? ""))}`;
  const verdict = event.fault === null ? paint.green("signature ok") : paint.red(`refused: ${faults[event.fault]}`);
  const head = [`${when}  ${what}  ${verdict}`, ...forwardWords(sheet, event)].join("\n");
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
