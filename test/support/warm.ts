import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { documentOf, type Ended, type Running, withoutLastLineEnds } from "./cli.ts";
import { orHang } from "./hangs.ts";
import { checkout, programEnv } from "./process.ts";
import type { WarmCommand } from "./warm-program.ts";

/**
 * `esimctl` and `esimctlJson` of cli.ts without a process for each command: the built program runs them one after the
 * other in one process that stays, which takes a tenth of the work. For tests of what commands do; processes, signals
 * and standard streams themselves are tested by cli.ts.
 */
export async function esimctl(args: readonly string[], options: WarmOptions = {}): Promise<Ended> {
  const { cwd = checkout, env = {}, input = "", columns = null } = options;
  return withoutLastLineEnds(await inTurn({ args, cwd, env: { ...programEnv, ...env }, input, columns }));
}

/** What can be chosen for a command that is no process of its own. */
export type WarmOptions = Pick<Running, "cwd" | "env" | "input"> & {
  /** Its standard output is a terminal of this width. */
  columns?: number;
};

/** The same for a command that must succeed with `--json`: the document it printed. */
export async function esimctlJson(args: readonly string[], options: WarmOptions = {}): Promise<unknown> {
  return documentOf(args, await esimctl([...args, "--json"], options));
}

let program: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();

function inTurn(command: WarmCommand): Promise<Ended> {
  const run = last.then(() => orHang(runOnce(command), () => `${command.args.join(" ")} does not end`));
  last = run.catch(endProgram);
  return run;
}

async function runOnce(command: WarmCommand): Promise<Ended> {
  program ??= startProgram();
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const ended = (code: number | null) => reject(new Error(`${command.args.join(" ")} ended its process with ${code}`));
  program.once("message", resolve).once("exit", ended).send(command);
  const running = program;
  return promise.finally(() => running.off("message", resolve).off("exit", ended));
}

function startProgram(): ChildProcess {
  // It ends when its channel to this worker does.
  const child = fork(join(import.meta.dirname, "warm-program.ts"), { env: programEnv, execArgv: [] });
  return child;
}

async function endProgram(): Promise<void> {
  const ending = program;
  program = null;
  if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
  ending.kill("SIGKILL");
  await once(ending, "exit");
}
