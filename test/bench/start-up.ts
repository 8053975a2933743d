import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Bench, compare, type Measured, paceOf, type Scale } from "./bench.ts";

const program = join(import.meta.dirname, "..", "..", "bin", "esimctl");
const run = promisify(execFile);

/** Commands as a user runs them, one after the other, against a Node that does nothing. */
export const startUp: Bench = async (scale: Scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-bench-"));
  const data = ["--data", join(folder, "data")];
  // Folders of its own: without a login, with compiled code cached between starts.
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
  const start = (args: readonly string[]) => run(process.execPath, args, { env });
  const starts = async (count: number, args: readonly string[]) =>
    paceOf(count, async () => {
      for (let n = 0; n < count; n++) await start(args);
    });
  try {
    await start([program, "init", ...data]);
    await start([program, "partners", "create", "acme", "--name", "Acme", "--production", ...data]);
    const commands = [
      ["--version"],
      ["orders", "--help"],
      ["partners", "list", ...data],
      ["orders", "list", "--partner", "acme", ...data],
    ];
    const lines: Measured[] = [];
    for (const command of commands) {
      const what = `esimctl ${command.join(" ").replace(` ${data.join(" ")}`, "")}`;
      const oneEach = { ...scale, rounds: scale.starts, items: 1 };
      const sides = {
        ours: (count: number) => starts(count, [program, ...command]),
        bare: (count: number) => starts(count, ["-e", "0"]),
      };
      lines.push(await compare(oneEach, { what, peer: "node -e 0", ...sides }));
    }
    return lines;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
