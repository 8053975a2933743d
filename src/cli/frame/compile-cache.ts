import { mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname } from "node:path";
import envPaths from "env-paths";

/**
 * Lets Node keep what it compiles in the user's cache folder, for the next command to start with. Where nothing can be
 * written there, nothing is kept; NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE do as they say.
 */
export function keepCompiledCode(): void {
  const { cache } = envPaths("esimctl", { suffix: "" });
  if (madeFolder(dirname(cache)) && madeFolder(cache)) enableCompileCache(cache);
}

/** One level only: creating several never ends on file systems that deny that the new folder exists. */
function madeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EEXIST";
  }
}
