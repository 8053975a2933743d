import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

const program = join(import.meta.dirname, "..", "..", "bin", "esimctl");

/** What a daemon serves: a data directory, made when absent, or a PostgreSQL database. */
export type Served = { data: string } | { database: string; keyFile: string };

export type DaemonOptions = Served & {
  /** Left out: any free port. A restart that clients shall find again wants the same port. */
  port?: number;
  /** More of `serve`'s own flags. */
  flags?: readonly string[];
};

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
  /** Resolves once it has written a line on stdout that holds `text`. */
  said(text: string): Promise<string>;
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

/** How a command line names what it acts on. The log of a database stays in the test's own folder too. */
export function placeOf(served: Served): { args: string[]; env: NodeJS.ProcessEnv } {
  if ("data" in served) return { args: ["--data", served.data], env: cleanEnv() };
  const { database, keyFile } = served;
  const env = { ...cleanEnv(), XDG_STATE_HOME: dirname(keyFile), HOME: dirname(keyFile) };
  return { args: ["--database", database, "--key-file", keyFile], env };
}

interface Spawned {
  pid: number;
  end(signal: NodeJS.Signals): void;
  ended: Promise<DaemonEnd>;
  said(text: string): Promise<string>;
}

function spawnServe({ port = 0, flags = [], ...served }: DaemonOptions): Spawned {
  const place = placeOf(served);
  const args = [program, "serve", ...place.args, "--port", String(port), ...flags];
  // This very Node: a launcher in between would get the signals in its place.
  const child = spawn(process.execPath, args, { env: place.env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  let rest = "";
  const lines: string[] = [];
  const looks = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    lines.push(...whole);
    for (const look of looks) look();
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
    async said(wanted) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = () => {
        const line = lines.find((each) => each.includes(wanted));
        if (line !== undefined) resolve(line);
      };
      looks.add(look);
      look();
      ended.then(({ code }) => reject(new Error(`serve ended with ${code}: ${stdout}${stderr}`)));
      return promise.finally(() => looks.delete(look));
    },
  };
}

const LISTENING = '"event":"listening"';

/** Starts a daemon on loopback and waits until it listens; whatever the test leaves running is killed with the test. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { pid, end, ended, said } = spawnServe({ ...options, flags: ["--json", ...(options.flags ?? [])] });
  const listening = JSON.parse(await said(LISTENING));
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
    said,
    stop: () => endBy("SIGTERM"),
    kill: () => endBy("SIGKILL"),
    ended,
  };
}

/** A start that must be refused: how it ended. */
export async function refusedDaemon(options: DaemonOptions): Promise<DaemonEnd> {
  const { ended, said, end } = spawnServe(options);
  // It was not refused: its end by a signal fails the test.
  said(LISTENING).then(
    () => end("SIGKILL"),
    () => undefined,
  );
  return ended;
}
