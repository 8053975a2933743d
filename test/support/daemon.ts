import { dirname } from "node:path";
import type { Ended as CommandEnd } from "./cli.ts";
import { type Ended, type Launched, type LaunchOptions, launch } from "./process.ts";
import { esimctl } from "./warm.ts";

/** What a daemon serves: a data directory, made when absent, or a PostgreSQL database. */
export type Served = { data: string } | { database: string; keyFile: string };

export type DaemonOptions = Served &
  Pick<LaunchOptions, "build" | "env" | "through" | "owner"> & {
    /** Left out: any free port. A restart at which clients find it again needs the same port. */
    port?: number;
    /** More of `serve`'s own flags. */
    flags?: readonly string[];
  };

/** How a start is tried that must be refused. */
type RefusedStart = Served & Pick<DaemonOptions, "env" | "port" | "flags">;

/** A real `esimctl serve --json`, listening. */
export interface Daemon extends Pick<Launched, "child" | "pid" | "printed" | "text" | "ended"> {
  url: string;
  port: number;
  /** The line that reports it. */
  listening: Record<string, unknown>;
  /** Stops it after the requests in flight. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<Ended>;
  /** Ends it between two instructions (SIGKILL). */
  kill(): Promise<Ended>;
}

/** How a command line names what it acts on. The log of a database stays in the test's own folder too. */
export function targetOf(served: Served): { args: string[]; env: Record<string, string> } {
  if ("data" in served) return { args: ["--data", served.data], env: {} };
  const { database, keyFile } = served;
  const env = { XDG_STATE_HOME: dirname(keyFile), HOME: dirname(keyFile) };
  return { args: ["--database", database, "--key-file", keyFile], env };
}

/** Starts a daemon and waits for nothing; it is killed with its owner. */
export function launchServe(options: DaemonOptions): Launched {
  const { port = 0, flags = [], env: more, build, through, owner, ...served } = options;
  const { args, env } = targetOf(served);
  const launched = {
    env: { ...env, ...more },
    ...(build === undefined ? {} : { build }),
    ...(through === undefined ? {} : { through }),
    ...(owner === undefined ? {} : { owner }),
  };
  return launch(["serve", ...args, "--port", String(port), ...flags], launched);
}

const LISTENING = '"event":"listening"';

/** Starts a daemon on loopback and waits until it listens; a daemon that still runs is killed with its owner. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  return whenListening(launchServe({ ...options, flags: ["--json", ...(options.flags ?? [])] }));
}

/** Waits until a daemon that was launched with `--json` listens. */
export async function whenListening({ child, pid, end, ended, printed, text }: Launched): Promise<Daemon> {
  const listening = JSON.parse(await printed(LISTENING));
  const url = String(listening.url);
  return {
    url,
    port: Number(new URL(url).port),
    child,
    pid,
    listening,
    printed,
    text,
    ended,
    stop: (signal = "SIGTERM") => end(signal),
    kill: () => end("SIGKILL"),
  };
}

/** A start that must be refused: how it ended. */
export async function refusedDaemon(options: DaemonOptions): Promise<Ended> {
  const { ended, printed, end } = launchServe(options);
  // It was not refused: its end by a signal fails the test.
  printed(LISTENING).then(
    () => end("SIGKILL"),
    () => undefined,
  );
  return ended;
}

/** The same without a process of its own, where nothing of a process matters to how it is refused. */
export function refusedStart({ port = 0, flags = [], env, ...served }: RefusedStart): Promise<CommandEnd> {
  const target = targetOf(served);
  return esimctl(["serve", ...target.args, "--port", String(port), ...flags], { env: { ...target.env, ...env } });
}
