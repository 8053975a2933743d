import { command } from "../command.ts";
import { sayListening, serve, serveOptions, servingOf } from "../commands/serve.ts";
import type { ExitCode } from "../exit-codes.ts";
import { singles } from "../nouns.ts";
import { type Place, placeWords } from "../place.ts";
import { run } from "../run.ts";

/** `serve` as npm start runs it: demo data first, and what to try with it once it listens. */
const serveDemo = command({
  ...serve,
  args: {},
  options: serveOptions,
  async run(context, input) {
    const [{ prepareDemo }, { demoWords }, { serveUntilStopped }] = await Promise.all([
      import("./prepare.ts"),
      import("./words.ts"),
      import("../serving.ts"),
    ]);
    const place = await context.place();
    const demo = await prepareDemo(place);
    await serveUntilStopped(context, servingOf(input), ({ url, publicUrl }) => {
      if (!context.globals.json) process.stdout.write(`${demoWords(demo, url, esimctlAt(place))}\n`);
      sayListening(context, url, publicUrl);
    });
    return null;
  },
});

/** How the terminal is called in the checkout, for the place that is served. */
function esimctlAt(place: Place): string {
  const path = placeWords(place);
  if (place.kind === "database") return `node bin/esimctl --database ${path} --key-file ${place.keyFile}`;
  return path === "./esimctl-data" ? "node bin/esimctl" : `node bin/esimctl --data ${path}`;
}

/** Serves the demo with the options of `serve`; the answer is the exit code. */
export function startDemo(argv: readonly string[]): Promise<ExitCode> {
  const commands = singles.map((one) => (one.name === "serve" ? { ...one, load: async () => serveDemo } : one));
  return run(["serve", ...argv], commands);
}
