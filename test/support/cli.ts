import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { execa } from "execa";
import { onTestFinished } from "vitest";

const root = join(import.meta.dirname, "..", "..");

export const program = join(root, "bin", "esimctl");

/** Nothing of the machine's own settings reaches the program under test, and nobody is logged in anywhere. */
export const programEnv: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(ESIMCTL_|NO_COLOR|FORCE_COLOR|SUDO_USER)/.test(name) ? [] : [[name, value]],
    ),
  ),
  XDG_CONFIG_HOME: join(import.meta.dirname, "no-such-folder"),
  // Where the build clears away what is old.
  XDG_CACHE_HOME: join(root, "dist", "cache"),
  XDG_STATE_HOME: join(import.meta.dirname, "no-such-folder"),
};

export interface Ended {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

interface How {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  /** As another user of this machine; only root may. */
  uid?: number;
}

/** Runs the built program as a process, without a terminal, to its end. */
export async function esimctl(args: readonly string[], how: How = {}): Promise<Ended> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...args], {
    reject: false,
    extendEnv: false,
    env: { ...programEnv, ...how.env },
    ...(how.cwd === undefined ? {} : { cwd: how.cwd }),
    ...(how.uid === undefined ? {} : { uid: how.uid }),
    ...(how.input === undefined ? { stdin: "ignore" as const } : { input: how.input }),
  });
  return { exitCode, stdout, stderr };
}

/** The same for a command that must succeed with `--json`: the document it printed. */
export async function esimctlJson(args: readonly string[], how: How = {}): Promise<unknown> {
  const ended = await esimctl([...args, "--json"], how);
  if (ended.exitCode !== 0)
    throw new Error(`${args.join(" ")}: exit ${ended.exitCode}: ${ended.stdout}${ended.stderr}`);
  return JSON.parse(ended.stdout);
}

/** Runs a line of bash in which $ESIMCTL is the program. */
export async function shell(line: string, cwd: string): Promise<Ended> {
  const { exitCode, stdout, stderr } = await execa("bash", ["-c", line], {
    reject: false,
    extendEnv: false,
    env: { ...programEnv, ESIMCTL: `${process.execPath} ${program}` },
    cwd,
    stdin: "ignore",
  });
  return { exitCode, stdout, stderr };
}

export interface Serving {
  url: string;
  child: ChildProcess;
  /** Sends the signal and waits; the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `esimctl serve --json` on a free port; stopped with the test. */
export async function serving(data: string, args: readonly string[] = []): Promise<Serving> {
  const child = spawn(process.execPath, [program, "serve", "--data", data, "--port", "0", "--json", ...args], {
    env: programEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(([code]): number | null => code);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    url: await listeningUrl(child, ended),
    child,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

async function listeningUrl(child: ChildProcess, ended: Promise<number | null>): Promise<string> {
  let seen = "";
  return new Promise((resolve, reject) => {
    child.stderr?.resume();
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      seen += chunk;
      for (const line of seen.split("\n").slice(0, -1)) {
        const { event, url } = JSON.parse(line);
        if (event === "listening") resolve(url);
      }
    });
    ended.then((code) => reject(new Error(`serve ended with ${code}: ${seen}`)));
  });
}

/** Starts the program with its standard input open; the test writes to it, and kills it in the end. */
export function started(
  args: readonly string[],
  env = programEnv,
): { child: ChildProcess & { stdin: Writable }; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const read = async (stream: AsyncIterable<Buffer>) => {
    let text = "";
    for await (const chunk of stream) text += chunk;
    return text;
  };
  const output = Promise.all([read(child.stdout), read(child.stderr), once(child, "exit")]);
  return { child, ended: output.then(([stdout, stderr, [exitCode]]) => ({ exitCode, stdout, stderr })) };
}
