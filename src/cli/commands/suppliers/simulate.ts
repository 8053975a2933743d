import { simulators } from "../../../daemon/simulators/serve.ts";
import type { Steered } from "../../../daemon/simulators/steering.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, integer, required } from "../../kernel/input.ts";

const names = [...simulators.keys()];
const COUNTED = { min: 1, max: 1_000_000 };

export default command({
  target: "process",
  effects:
    "Listens on 127.0.0.1 until it is stopped (SIGTERM or Ctrl-C, exit code 0), and answers as the provider's own " +
    "API does: no account there, no data directory, no money. All that it sold is forgotten when it ends. POST " +
    "URL/_simulate steers how calls end, POST URL/_simulate/phone plays a traveler's phone.",
  json: 'the first line is {"event":"listening","url","secret"}, and there is no other',
  examples: [
    "suppliers simulate esimaccess --port 9001",
    "suppliers simulate esimaccess --port 9001 --refuse 1 --lose 2 --delay 500",
    "suppliers simulate esimaccess --port 0 --json",
  ],
  stays: true,
  args: { name: argument("name", `whose API: ${names.join(", ")}`, { oneOf: names }) },
  options: {
    port: required(integer("--port <n>", "port to listen on (0: any free one)", { max: 65_535 })),
    refuse: integer("--refuse <n>", "refuse the first n orders", COUNTED),
    lose: integer("--lose <n>", "carry out the next n orders, and break the connection before the answer", COUNTED),
    delay: integer("--delay <ms>", "answer each order so much later", { max: 600_000 }),
  },
  async run({ globals }, { name, port, ...first }) {
    const simulate = simulators.get(name);
    if (simulate === undefined) {
      throw usageError(`There is no simulation of "${name}".`, `There are ${names.join(", ")}.`);
    }
    const [{ serveSimulator }, { startListening }, { systemClock }] = await Promise.all([
      import("../../../daemon/simulators/serve.ts"),
      import("../../../daemon/serve/listen.ts"),
      import("../../../core/kernel/clock.ts"),
    ]);
    const provider = await simulate();
    // From before it listens: a process that reads the line may stop it at once.
    const signaled = new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
    });
    const serving = { port, now: systemClock.now, steered: steeredFirst(first) };
    const at = { host: "127.0.0.1", port, flag: "--port" };
    const { url, close } = await startListening(() => serveSimulator(provider, serving), at);
    const { secret } = provider;
    const line = globals.json ? JSON.stringify({ event: "listening", url, secret }) : listeningText(name, url, secret);
    process.stdout.write(`${line}\n`);
    await signaled;
    await close();
    return null;
  },
});

interface First {
  refuse: number | undefined;
  lose: number | undefined;
  delay: number | undefined;
}

/** The options as steering, in the order that they apply in. */
function steeredFirst({ refuse, lose, delay }: First): Steered[] {
  const steered: Steered[] = [];
  if (refuse !== undefined) steered.push({ on: "order", outcome: "refuse", count: refuse, delay_ms: 0 });
  if (lose !== undefined) steered.push({ on: "order", outcome: "lost", count: lose, delay_ms: 0 });
  if (delay !== undefined) steered.push({ on: "order", outcome: "delay", count: COUNTED.max, delay_ms: delay });
  return steered;
}

function listeningText(name: string, url: string, secret: string): string {
  return `simulating ${name} at ${url} (Ctrl-C stops it)

Connect it in another terminal:
  esimctl suppliers set ${name} --adapter ${name} --url ${url} --secret ${secret}

What it was asked, and what is bought:
  curl ${url}/_simulate
Refuse the next order (outcomes: refuse, lost, busy, delay, wait; on: order, topup, cancel, query):
  curl -X POST ${url}/_simulate -d '{"on": "order", "outcome": "refuse", "count": 1}'
Play a traveler's phone (states: installed, enabled, in_use, used_up, expired, suspended, deleted):
  curl -X POST ${url}/_simulate/phone -d '{"iccid": "ICCID", "state": "in_use", "used_mb": 512}'
Send its notices to an address:
  curl -X POST ${url}/_simulate/callbacks -d '{"url": "http://127.0.0.1:8080/…"}'
Begin again:
  curl -X DELETE ${url}/_simulate`;
}
