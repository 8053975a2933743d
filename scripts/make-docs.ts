/** Writes the marked sections of docs/states.md anew from the code: `npm run docs`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withSections } from "./docs-sections.ts";

const page = join(import.meta.dirname, "..", "docs", "states.md");
writeFileSync(page, withSections(readFileSync(page, "utf8")));
