import { getSystemErrorMessage } from "node:util";
import packageFile from "../../package.json" with { type: "json" };

/** The program: understands `argv` (without node and script), acts, and leaves the exit code in `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  endOnBrokenOutput();
  if (/^(--version|-v|-V)$/.test(argv[0] ?? "")) {
    process.stdout.write(`${packageFile.version}\n`);
    return;
  }
  (await import("./frame/compile-cache.ts")).keepCompiledCode();
  if (process.env.ESIMCTL_PARENT_FD !== undefined) await (await import("./frame/parent.ts")).endWithParent();
  const { run } = await import("./run.ts");
  process.exitCode = await run(argv);
}

/** `esimctl … | head -1`: the reader has what it wanted. Any other fault of the output ends the program in words. */
function endOnBrokenOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      // A server logs it, and ends in its own way.
      if (process.listenerCount("uncaughtException") > 0) throw error;
      if (stream === process.stdout) process.stderr.write(unwritten(error));
      process.exit(1);
    });
  }
}

function unwritten({ errno, message }: NodeJS.ErrnoException): string {
  const why = errno === undefined ? message : getSystemErrorMessage(errno);
  const hint = "Make room where it goes, or send it elsewhere. What the command changed stays changed.";
  return `error: The output could not be written: ${why}.\n→ ${hint}\n`;
}

/** `npm start`: demo data on the first run, then `serve` with the options in `argv`. */
export async function start(argv: readonly string[]): Promise<void> {
  endOnBrokenOutput();
  (await import("./frame/compile-cache.ts")).keepCompiledCode();
  const [{ run }, { singles }, { serveDemo }] = await Promise.all([
    import("./run.ts"),
    import("./singles.ts"),
    import("./commands/serve-demo.ts"),
  ]);
  const commands = singles.map((one) => (one.name === "serve" ? { ...one, load: async () => serveDemo } : one));
  process.exitCode = await run(["serve", ...argv], commands);
}
