/** Makes the marked sections of the documentation again from the code: `npm run docs`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pagesWithSections, withSections } from "./docs-sections.ts";

for (const name of pagesWithSections) {
  const page = join(import.meta.dirname, "..", name);
  writeFileSync(page, withSections(readFileSync(page, "utf8")));
}
