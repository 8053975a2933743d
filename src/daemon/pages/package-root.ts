import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the installed package, wherever the build put this file: the next one up with a package.json. */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("this program is not installed whole: its package.json is missing");
    folder = parent;
  }
  return folder;
}
