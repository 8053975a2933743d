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
    await serveUntilStopped(context, servingOf(input, context.globals), ({ url, publicUrl }) => {
      if (!context.globals.json)
        process.stdout.write(`${demoWords(demo, url, `node bin/esimctl${placeOptions(place)}`)}\n`);
      printListening(context, url, publicUrl);
    });
    return null;
  },
});
