/**
 * npm runs this while it packs: `npm-shrinkwrap.json` pins in an installed package the versions that this checkout is
 * tested with. With `--remove` it takes the file away, because in a checkout npm would prefer it to package-lock.json.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { productionLock } from "./production.ts";

const file = join(import.meta.dirname, "..", "npm-shrinkwrap.json");

if (process.argv.includes("--remove")) rmSync(file, { force: true });
else writeFileSync(file, `${JSON.stringify(productionLock(), null, 2)}\n`);
