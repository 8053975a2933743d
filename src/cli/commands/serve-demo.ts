import { command } from "../frame/command.ts";
import { placeOptions } from "../place/place.ts";
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
    const serving = servingOf(input, context.globals);
    await serveUntilStopped(context, serving, ({ url, publicUrl }) => {
      const at = { url, esimctl: `node bin/esimctl${placeOptions(place)}`, pages: serving.pages, now: Date.now() };
      if (!context.globals.json) process.stdout.write(`${demoWords(demo, at)}\n`);
      printListening(context, url, publicUrl);
    });
    return null;
  },
});
