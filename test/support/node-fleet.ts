import { setTimeout as pause } from "node:timers/promises";
import { type Daemon, type DaemonOptions, startDaemon } from "./daemon.ts";

/** Several nodes on one database, each at an address that stays; one that was killed starts again as systemd does. */
export interface NodeFleet {
  /** What callers reach, whether it runs or not. */
  urls: string[];
  /** Ends a node between two instructions, and starts it again. */
  kill(at: number): Promise<void>;
  /** Stops a node in order (SIGTERM), and starts it again. */
  restart(at: number): Promise<void>;
  /** Suspends a node for so long (SIGSTOP, SIGCONT). */
  suspend(at: number, ms: number): Promise<void>;
  /** Stops all of them in order; their exit codes. */
  stop(): Promise<(number | null)[]>;
  /** How often each message was logged at level error or above by all of them. */
  errors(): Record<string, number>;
}

/** How long a service manager waits before it starts a node again (RestartSec). */
const RESTART_MS = 2_000;

/** Starts as many nodes as there are options; they end with the test. */
export async function startFleet(nodes: readonly DaemonOptions[]): Promise<NodeFleet> {
  const started: Daemon[] = [];
  const running: Daemon[] = [];
  async function start(options: DaemonOptions): Promise<Daemon> {
    const daemon = await startDaemon(options);
    started.push(daemon);
    return daemon;
  }
  for (const options of nodes) running.push(await start(options));
  const urls = running.map(({ url }) => url);
  const ports = running.map(({ port }) => port);
  const node = (at: number): Daemon => {
    const daemon = running[at];
    if (daemon === undefined) throw new Error(`there is no node ${at}`);
    return daemon;
  };
  async function startAgain(at: number): Promise<void> {
    const options = nodes[at];
    const port = ports[at];
    if (options === undefined || port === undefined) throw new Error(`there is no node ${at}`);
    for (;;) {
      await pause(RESTART_MS);
      // It is refused while the database is away.
      const daemon = await start({ ...options, port }).catch(() => null);
      if (daemon === null) continue;
      running[at] = daemon;
      return;
    }
  }
  return {
    urls,
    async kill(at) {
      await node(at).kill();
      await startAgain(at);
    },
    async restart(at) {
      await node(at).stop();
      await startAgain(at);
    },
    async suspend(at, ms) {
      node(at).child.kill("SIGSTOP");
      await pause(ms);
      node(at).child.kill("SIGCONT");
    },
    stop: async () => (await Promise.all(running.map((daemon) => daemon.stop()))).map(({ exitCode }) => exitCode),
    errors: () => errorsIn(started.map((daemon) => daemon.text())),
  };
}

function errorsIn(logs: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of logs.flatMap((text) => text.split("\n"))) {
    // A killed process may leave half a line.
    const [, level] = /^\{"level":"(error|fatal)"/.exec(line) ?? [];
    if (level === undefined || !line.endsWith("}")) continue;
    const { event, msg, err } = JSON.parse(line);
    const what = [event ?? msg, err?.message].filter((words) => words !== undefined).join(": ");
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}
