/** Preloaded by a test into the program: lists every file that it loads in a file. */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    const list = process.env.ESIMCTL_TEST_LOADED;
    if (list !== undefined && url.startsWith("file:")) appendFileSync(list, `${url}\n`);
    return next(url, context);
  },
});
