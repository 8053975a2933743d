import { command } from "../../frame/command.ts";
import { integer, required, text } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";

export const listen = command({
  name: "listen",
  summary: "run a local receiver that checks signatures and prints events",
  target: "process",
  effects: "Listens on 127.0.0.1 until it is stopped. Answers 200 to what is signed right, 400 to what is not.",
  json: "one line an event: {valid, fault, received_at, event, event_id, timestamp, data}",
  examples: [
    "webhooks listen --port 4000 --secret -",
    "webhooks listen --port 4000 --secret whsec_… --json | jq .event",
  ],
  stays: true,
  args: {},
  options: {
    port: required(integer("--port <n>", "port to listen on (0: any free one)", { max: 65_535 })),
    secret: required(text("--secret <secret>", "the signing secret; - reads it from standard input or asks"), "secret"),
  },
  async run(context, { port, secret }) {
    const [{ startListener }, { systemClock }, { makeSheet }, { shownEvent }] = await Promise.all([
      import("./listener.ts"),
      import("../../../core/kernel/clock.ts"),
      import("../../output/make-sheet.ts"),
      import("./shown-event.ts"),
    ]);
    const key = await readSecretArgument(secret, "Signing secret", context.globals);
    const { json } = context.globals;
    const sheet = makeSheet(process.stdout, context.globals);
    const listener = await startListener({ port, secret: key, clock: systemClock }, (event) => {
      process.stdout.write(`${json ? JSON.stringify(event) : shownEvent(sheet, event)}\n`);
    });
    context.note(`listening on ${listener.url} (Ctrl-C stops it)`);
    await new Promise<void>((resolve) => {
      for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => resolve());
    });
    await listener.close();
    return null;
  },
});
