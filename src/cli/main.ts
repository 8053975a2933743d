import packageFile from "../../package.json" with { type: "json" };

/** The program: understands `argv` (without node and script), acts, and leaves the exit code in `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  endQuietlyOnBrokenPipes();
  if (/^(--version|-v|-V)$/.test(argv[0] ?? "")) {
    process.stdout.write(`${packageFile.version}\n`);
    return;
  }
  (await import("./frame/compile-cache.ts")).keepCompiledCode();
  if (process.env.ESIMCTL_PARENT_FD !== undefined) await (await import("./frame/parent.ts")).endWithParent();
  const { run } = await import("./run.ts");
  process.exitCode = await run(argv);
}

/** `esimctl … | head -1`: the reader has what it wanted. */
function endQuietlyOnBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
}

/** `npm start`: demo data on the first run, then `serve` with the options in `argv`. */
export async function start(argv: readonly string[]): Promise<void> {
  endQuietlyOnBrokenPipes();
  (await import("./frame/compile-cache.ts")).keepCompiledCode();
  const [{ run }, { singles }, { serveDemo }] = await Promise.all([
    import("./run.ts"),
    import("./singles.ts"),
    import("./commands/serve-demo.ts"),
  ]);
  const commands = singles.map((one) => (one.name === "serve" ? { ...one, load: async () => serveDemo } : one));
  process.exitCode = await run(["serve", ...argv], commands);
}
