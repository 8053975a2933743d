import { command } from "../frame/command.ts";
import { type Place, placeWords } from "../place/place.ts";
import { printListening } from "../serve/listening.ts";
import serve, { serveOptions, servingOf } from "./serve.ts";

/** `serve` as npm start runs it: demo data first, and what to try with it once it listens. */
export const serveDemo = command({
  ...serve,
  args: {},
  options: serveOptions,
  async run(context, input) {
    const [{ prepareDemo }, { demoWords }, { serveUntilStopped }] = await Promise.all([
      import("../demo/prepare.ts"),
      import("../demo/words.ts"),
      import("../serve/serving.ts"),
    ]);
    const place = await context.place();
    const demo = await prepareDemo(place);
    await serveUntilStopped(context, servingOf(input, context.globals), ({ url, publicUrl }) => {
      if (!context.globals.json) process.stdout.write(`${demoWords(demo, url, esimctlAt(place))}\n`);
      printListening(context, url, publicUrl);
    });
    return null;
  },
});

/** The command line of the checkout's esimctl for the served place. */
function esimctlAt(place: Place): string {
  const path = placeWords(place);
  if (place.kind === "database")
    return `node bin/esimctl --database ${path}${place.keyFile === null ? "" : ` --key-file ${place.keyFile}`}`;
  return path === "./esimctl-data" ? "node bin/esimctl" : `node bin/esimctl --data ${path}`;
}
