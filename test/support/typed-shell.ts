import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { orHang } from "./hangs.ts";
import { launchCommand, program, programEnv } from "./process.ts";

/** A shell that stays, in which blocks are run as they are pasted by a person. */
export interface TypedShell {
  /** Runs a block and resolves with all that it wrote; rejects when one of its commands fails. */
  type(block: string): Promise<string>;
}

const END = "--- the block has ended:";

/** Starts bash in a folder, with the built program as `esimctl` on its path; it is ended with the test. */
export async function openShell(folder: string): Promise<TypedShell> {
  const path = join(folder, ".bin");
  mkdirSync(path);
  writeFileSync(join(path, "esimctl"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(path, "esimctl"), 0o755);
  const env = { PATH: `${path}:${programEnv.PATH}` };
  const { child, text, printed } = launchCommand("bash", ["--norc"], { cwd: folder, env, input: "open" });
  child.stdin?.write("set -E; trap 'failed+=(\"$BASH_COMMAND\")' ERR; exec 2>&1\n");
  let blocks = 0;
  return {
    async type(block) {
      blocks += 1;
      const from = text().length;
      const file = join(path, `block-${blocks}`);
      writeFileSync(file, `${block}\n`);
      // From a file, so that no command reads the blocks behind it.
      const ends = `printf '\\n%s\\n' "${END} ${blocks} \${failed[*]}"`;
      child.stdin?.write(`failed=(); . '${file}' < /dev/null; ${ends}\n`);
      const last = await orHang(printed(`${END} ${blocks} `), () => `this does not end: ${block}`);
      const answer = text().slice(from);
      const failed = last.slice(`${END} ${blocks} `.length);
      if (failed !== "") throw new Error(`${failed} failed:\n${answer}`);
      return answer.slice(0, answer.lastIndexOf(`\n${END}`));
    },
  };
}
