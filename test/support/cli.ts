import { type LaunchOptions, launch, launchCommand, type Ended as ProcessEnd, program } from "./process.ts";

/** What a command left: its exit code, and what it printed without the last line end. */
export type Ended = Omit<ProcessEnd, "signal">;

/** How a command is run. */
export type Running = LaunchOptions & { input?: string };

/** Runs the built program as a process, without a terminal, to its end. */
export async function esimctl(args: readonly string[], options: Running = {}): Promise<Ended> {
  return withoutLastLineEnds(await launch(args, options).ended);
}

/** The same for a command that must succeed with `--json`: the document it printed. */
export async function esimctlJson(args: readonly string[], options: Running = {}): Promise<unknown> {
  return documentOf(args, await esimctl([...args, "--json"], options));
}

/** The document that a command printed; throws unless it succeeded. */
export function documentOf(args: readonly string[], { exitCode, stdout, stderr }: Ended): unknown {
  if (exitCode !== 0) throw new Error(`${args.join(" ")}: exit ${exitCode}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

/** Runs a line of bash in which $ESIMCTL is the program. */
export async function shell(line: string, cwd: string): Promise<Ended> {
  const env = { ESIMCTL: `${process.execPath} ${program}` };
  return withoutLastLineEnds(await launchCommand("bash", ["-c", line], { cwd, env }).ended);
}

/** As a shell's `$(…)` does, for one line end. */
export function withoutLastLineEnds({ exitCode, stdout, stderr }: Ended): Ended {
  return { exitCode, stdout: stdout.replace(/\n$/, ""), stderr: stderr.replace(/\n$/, "") };
}
