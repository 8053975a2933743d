import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Ended } from "./cli.ts";

/** A command line and its surroundings. */
export interface WarmCommand {
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  input: string;
  /** The width of the terminal that its output goes to; null: it goes to none. */
  columns: number | null;
}

// Not built yet when this is type-checked.
const { main }: { main(argv: readonly string[]): Promise<void> } = await import(
  join(import.meta.dirname, "..", "..", "dist", "main.js")
);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

process.on("disconnect", () => process.exit());
process.on("message", (command: WarmCommand) => {
  void run(command).then((ended) => process.send?.(ended));
});

async function run({ args, cwd, env, input, columns }: WarmCommand): Promise<Ended> {
  const [stdout, stderr] = [collector(), collector()];
  for (const [name, value] of Object.entries({ stdout: stdout.stream, stderr: stderr.stream, stdin: source(input) })) {
    Object.defineProperty(process, name, { value, configurable: true });
  }
  if (columns !== null) Object.assign(stdout.stream, { isTTY: true, columns });
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.exitCode = undefined;
  await main(args);
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  return { exitCode: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
}

function source(input: string): Readable {
  return Readable.from(input === "" ? [] : [Buffer.from(input)]);
}

function collector() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}
