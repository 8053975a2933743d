import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { address, integer, text } from "../../kernel/input.ts";
import { cleanJson } from "../../output/clean.ts";
import { secret as askSecret, readSecretArgument } from "../../output/prompts.ts";
import type { ReceivedEvent } from "./listener.ts";

const QUESTION = "Signing secret";

export default command({
  target: "partner",
  effects:
    "With --port: listens on 127.0.0.1 until it is stopped. Answers 200 to what is signed right, 400 to what is not. " +
    "--forward-to posts what is signed right to another address too, as it came, and answers with the status of the " +
    "response. With --forward-to alone: no public address is needed. Follows the feed of events from now on, at a " +
    "server or on data, and posts each event once, signed and in the form of a delivery, whatever the response. " +
    "While the server is away it waits, and goes on where it was. Ctrl-C ends it with 130, after the event that is " +
    "being posted, and prints the cursor with which --after goes on behind the last one; a second Ctrl-C ends at once.",
  json:
    "one line an event: {valid, fault, received_at, event, event_id, timestamp, data}; with --forward-to also " +
    "forwarded: {url, status, error, latency_ms, response_body}, or null",
  examples: [
    "webhooks listen --forward-to http://127.0.0.1:3000/hooks",
    "webhooks listen --forward-to http://127.0.0.1:3000/hooks --secret - --partner acme --sandbox",
    "webhooks listen --forward-to http://127.0.0.1:3000/hooks --after WyJSUWJ3…",
    "webhooks listen --port 4000 --secret -",
    "webhooks listen --port 4000 --secret whsec_… --json | jq .event",
    "webhooks listen --port 4000 --secret - --forward-to http://127.0.0.1:3000/hooks",
  ],
  stays: true,
  args: {},
  options: {
    port: integer("--port <n>", "port to listen on (0: any free one)", { max: 65_535 }),
    secret: text(
      "--secret <secret>",
      "the signing secret; - reads it from standard input or asks. Left out without --port: one is made and printed",
    ),
    forwardTo: address("--forward-to <url>", "post each event to this address"),
    after: text(
      "--after <cursor>",
      "without --port: begin behind this cursor (default: with what comes in from now on)",
    ),
  },
  async run(context, { port, secret, forwardTo, after }) {
    const { globals, actsFor } = context;
    if (port === undefined) {
      if (forwardTo !== undefined) return passOnFeed(context, { forwardTo, given: secret, after });
      throw usageError("Name where events come from or go to.", "Give --port, or --forward-to alone for the feed.");
    }
    if (actsFor.partner !== undefined || actsFor.sandbox || after !== undefined) {
      const forFeed = after === undefined ? "--sandbox" : "--after";
      const flag = actsFor.partner === undefined ? forFeed : "--partner";
      throw usageError(`${flag} does not go with --port, which receives what is sent there.`, "Leave one of them out.");
    }
    const key =
      secret === undefined
        ? await askSecret(QUESTION, "--secret", globals)
        : await readSecretArgument(secret, QUESTION, globals);
    return receive(context, { port, secret: key, forwardTo });
  },
});

/** Receives deliveries until a signal ends it. */
async function receive(
  context: Context,
  listening: { port: number; secret: string; forwardTo: string | undefined },
): Promise<null> {
  const [{ startListener }, { systemClock }] = await Promise.all([
    import("./listener.ts"),
    import("../../../core/kernel/clock.ts"),
  ]);
  const print = await printer(context, { isChecked: true });
  const listener = await startListener({ ...listening, clock: systemClock }, print);
  context.note(`listening on ${listener.url} (Ctrl-C stops it)`);
  await new Promise<void>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => resolve());
  });
  await listener.close();
  return null;
}

interface PassingOn {
  forwardTo: string;
  /** The secret that was given. */
  given: string | undefined;
  after: string | undefined;
}

/** Passes the feed on until a signal ends the process. */
async function passOnFeed(context: Context, { forwardTo, given, after }: PassingOn): Promise<never> {
  const [{ relayFeed }, { systemClock }, { randomIds }, { newWebhookSecret }] = await Promise.all([
    import("./relay.ts"),
    import("../../../core/kernel/clock.ts"),
    import("../../../core/kernel/ids.ts"),
    import("../../../core/webhooks/signature.ts"),
  ]);
  const secret =
    given === undefined ? newWebhookSecret(randomIds()) : await readSecretArgument(given, QUESTION, context.globals);
  const print = await printer(context, { isChecked: false });
  const ending = new AbortController();
  process.on("SIGINT", () => {
    if (ending.signal.aborted) process.exit(exitCodes.interrupted);
    ending.abort();
  });
  return context.withApi(async (api) => {
    const ready = () => {
      // Also with --quiet: nothing else shows it.
      if (given === undefined) context.warn(`signing secret of this run: ${secret}`);
      context.note(`events of ${api.actsAs} go to ${forwardTo} (Ctrl-C stops it)`);
    };
    const away = (reason: string) => context.note(`${reason} Trying again until the server answers.`);
    const finishing = () => context.note("Ending after the event that is being posted. Ctrl-C again ends at once.");
    const how = { forwardTo, secret, clock: systemClock, after, ended: ending.signal };
    const cursor = await relayFeed(api, { ...how, ready, passedOn: print, finishing, away });
    context.warn(`go on behind the last event: --after ${cursor}`);
    // A request may still wait for events: nothing was read by it.
    process.exit(exitCodes.interrupted);
  });
}

/** Prints an event, as a line of JSON or for people. */
async function printer({ globals }: Context, checked: { isChecked: boolean }): Promise<(event: ReceivedEvent) => void> {
  const [{ makeSheet }, { eventText }] = await Promise.all([
    import("../../output/make-sheet.ts"),
    import("./event-text.ts"),
  ]);
  const sheet = makeSheet(process.stdout, globals);
  return (event) => {
    process.stdout.write(`${globals.json ? cleanJson(event, 0) : eventText(sheet, event, checked)}\n`);
  };
}
