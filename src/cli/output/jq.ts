import { loadJq } from "jq-wasm/inline";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { escapeHidden, tabbedText } from "./clean.ts";

/**
 * What a jq expression makes of a document, as `gh --jq` prints it: texts as they are, anything else as JSON on a line.
 * Throws `jq_failed` (exit code 2) with jq's own words.
 */
export async function filtered(document: unknown, expression: string): Promise<string> {
  const { stdout, stderr, exitCode } = (await loadJq()).raw(JSON.stringify(document), expression, ["-c"]);
  if (exitCode !== 0) {
    const [words = ""] = stderr.split("\n");
    throw new CliError(
      "jq_failed",
      words.replace(/[.:]?$/, "."),
      "Correct the expression behind --jq.",
      exitCodes.usage,
    );
  }
  const lines = stdout === "" ? [] : stdout.trimEnd().split("\n");
  return lines.map((line) => (line.startsWith('"') ? tabbedText(JSON.parse(line)) : escapeHidden(line))).join("\n");
}
