import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { orHang } from "./hangs.ts";
import { type Owner, thisTest } from "./owner.ts";

/** The root of the repository. */
export const checkout = join(import.meta.dirname, "..", "..");

/** The program as users start it. */
export const program = join(checkout, "bin", "esimctl");

/** The environment of the program under test: no settings of this machine, no login, a compile cache of its own. */
export const programEnv: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(ESIMCTL_|NO_COLOR|FORCE_COLOR|SUDO_USER|NODE_COMPILE_CACHE)/.test(name)
        ? []
        : [[name, value]],
    ),
  ),
  XDG_CONFIG_HOME: join(import.meta.dirname, "no-such-folder"),
  // The build removes old files from there.
  XDG_CACHE_HOME: join(checkout, "dist", "cache"),
  XDG_STATE_HOME: join(import.meta.dirname, "no-such-folder"),
};

/** How a process ended: its exit code, or null and the signal that ended it, and all that it wrote. */
export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** How a process is started. */
export interface LaunchOptions {
  cwd?: string;
  /** Added to `programEnv`. */
  env?: Record<string, string>;
  /** False: `env` is the whole environment. */
  extendEnv?: boolean;
  /** Standard input, or `open` for a pipe that the test writes to. Left out: empty. */
  input?: string | "open";
  /** As another user of this machine; only root may. */
  uid?: number;
  /** Another build of the program; left out: the checkout's. */
  build?: string;
  /** A command that starts it in its own place by exec, as prlimit does; its arguments come before the program's. */
  through?: readonly [string, ...string[]];
  /** With which it is killed; left out: the test that is running. */
  owner?: Owner;
}

/** A process that a test started; it is killed with its owner. */
export interface Launched {
  child: ChildProcess;
  pid: number;
  /** Resolves with the first line on stdout (or `stream`) that contains `wanted`; rejects when it ends before. */
  printed(wanted: string | RegExp, stream?: "stdout" | "stderr"): Promise<string>;
  /** Resolves with a line of stdout, counted from 0; rejects when the process ends before it. */
  line(at: number): Promise<string>;
  /** What stdout carried so far. */
  text(): string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
  ended: Promise<Ended>;
}

/** What still runs when the worker is stopped before its tests are finished. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a command, collects its output, and kills it with its owner. */
export function launchCommand(command: string, args: readonly string[], options: LaunchOptions = {}): Launched {
  const { cwd, env, extendEnv = true, input, uid, owner = thisTest } = options;
  const child = spawn(command, args, {
    env: { ...(extendEnv ? programEnv : {}), ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid }),
  });
  if (input !== undefined && input !== "open") child.stdin?.on("error", ignoreClosedPipe).end(input);
  return watched(child, owner);
}

/** Starts the program as a process with `args`. */
export function launch(args: readonly string[], options: LaunchOptions = {}): Launched {
  // This very Node: a launcher in between would receive the signals in its place.
  const [command, ...more] = [...(options.through ?? []), process.execPath, options.build ?? program, ...args];
  return launchCommand(command ?? process.execPath, more, options);
}

/** A program may end without reading its input. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** What one stream has carried so far. */
interface Transcript {
  text: string;
  lines: string[];
}

function watched(child: ChildProcess, owner: Owner): Launched {
  running.add(child);
  const looks = new Set<() => void>();
  const changed = () => {
    for (const look of looks) look();
  };
  const written = { stdout: collect(child.stdout, changed), stderr: collect(child.stderr, changed) };
  // `close` and not `exit`: by then all of its output has arrived.
  const ended = once(child, "close").then(([exitCode, signal]): Ended => {
    running.delete(child);
    return { exitCode, signal, stdout: written.stdout.text, stderr: written.stderr.text };
  });
  owner(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const output = () => `stdout: ${written.stdout.text}\nstderr: ${written.stderr.text}`;
  const seen = (find: () => string | undefined, what: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = () => {
      const line = find();
      if (line !== undefined) resolve(line);
    };
    looks.add(look);
    look();
    ended.then(({ exitCode }) => reject(new Error(`it ended with ${exitCode} and did not ${what}\n${output()}`)));
    return orHang(promise, () => `it did not ${what}\n${output()}`).finally(() => looks.delete(look));
  };
  return {
    child,
    pid: child.pid ?? 0,
    ended,
    printed: (wanted, stream = "stdout") =>
      seen(() => written[stream].lines.find((line) => contains(line, wanted)), `print "${wanted}"`),
    text: () => written.stdout.text,
    line: (at) => seen(() => written.stdout.lines[at], `print line ${at + 1}`),
    end(signal) {
      child.kill(signal);
      return orHang(ended, () => `it did not end at ${signal}\n${output()}`);
    },
  };
}

function contains(line: string, wanted: string | RegExp): boolean {
  return typeof wanted === "string" ? line.includes(wanted) : wanted.test(line);
}

function collect(stream: ChildProcess["stdout"], changed: () => void): Transcript {
  const seen: Transcript = { text: "", lines: [] };
  let rest = "";
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    seen.text += chunk;
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    seen.lines.push(...lines);
    changed();
  });
  return seen;
}
