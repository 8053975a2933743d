/** `npm start`: builds, makes ./esimctl-data with demo content on the first run, and serves in this very process. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

await import("./build.ts");
// Built just now: it cannot be imported by name before that.
const { start } = await import(pathToFileURL(join(import.meta.dirname, "..", "dist", "main.js")).href);
await start(process.argv.slice(2));
