import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const program = join(import.meta.dirname, "..", "..", "bin", "esimctl");

export interface DaemonOptions {
  /** The data directory; made when absent. */
  data: string;
  /** Left out: any free port. A restart that clients shall find again wants the same port. */
  port?: number;
  /** More of `serve`'s own flags. */
  flags?: readonly string[];
}

/** How a process ended: its exit code, or the signal that ended it, and all that it wrote. */
export interface DaemonEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A real `esimctl serve --json`, listening. */
export interface Daemon {
  url: string;
  port: number;
  pid: number;
  /** The line that said so. */
  listening: Record<string, unknown>;
  /** Lets it finish what is in flight (SIGTERM). */
  stop(): Promise<DaemonEnd>;
  /** Ends it between two instructions (SIGKILL). */
  kill(): Promise<DaemonEnd>;
  /** When it ends, by whatever. */
  ended: Promise<DaemonEnd>;
}

/** Nothing of the machine's own settings reaches the program under test. */
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ESIMCTL_")));
}

interface Spawned {
  pid: number;
  end(signal: NodeJS.Signals): void;
  ended: Promise<DaemonEnd>;
  /** Calls `look` with every line that it writes on stdout. */
  onLine(look: (line: string) => void): void;
}

function spawnServe({ data, port = 0, flags = [] }: DaemonOptions): Spawned {
  const args = [program, "serve", "--data", data, "--port", String(port), "--json", ...flags];
  // This very Node: a launcher in between would get the signals in its place.
  const child = spawn(process.execPath, args, { env: cleanEnv(), stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  let rest = "";
  const looks: ((line: string) => void)[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) for (const look of looks) look(line);
  });
  // `close` and not `exit`: by then all of its output is here.
  const ended = once(child, "close").then(([code, signal]): DaemonEnd => ({ code, signal, stdout, stderr }));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    end: (signal) => void child.kill(signal),
    ended,
    onLine: (look) => void looks.push(look),
  };
}

/** Starts a daemon on loopback and waits until it listens; whatever the test leaves running is killed with the test. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { pid, end, ended, onLine } = spawnServe(options);
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  onLine((line) => {
    if (line.includes('"event":"listening"')) resolve(JSON.parse(line));
  });
  ended.then(({ code, stdout, stderr }) => reject(new Error(`serve ended with ${code}: ${stdout}${stderr}`)));
  const listening = await promise;
  const url = String(listening.url);
  const endBy = (signal: NodeJS.Signals) => {
    end(signal);
    return ended;
  };
  return {
    url,
    port: Number(new URL(url).port),
    pid,
    listening,
    stop: () => endBy("SIGTERM"),
    kill: () => endBy("SIGKILL"),
    ended,
  };
}

/** A start that must be refused: how it ended. */
export async function refusedDaemon(options: DaemonOptions): Promise<DaemonEnd> {
  const { ended, onLine, end } = spawnServe(options);
  onLine((line) => {
    if (line.includes('"event":"listening"')) end("SIGKILL");
  });
  return ended;
}
