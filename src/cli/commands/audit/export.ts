import type { Store } from "../../../core/store/store.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { required, text } from "../../kernel/input.ts";
import { momentOf, since as sinceOption } from "../../kernel/input-time.ts";
import { writeNewFile, writeToStdout } from "../../output/file.ts";

export default command({
  target: "operator",
  effects:
    "Signs the heads of chains that have grown. Writes one row a line, then the signatures, then the public keys; " +
    "with -o to FILE (0600), which must not exist. The form is described in docs/evidence.md.",
  json: "only with -o: {file, rows, signatures}",
  examples: ["audit export --since 2026-01-01 -o evidence.jsonl", "audit export --since 24h"],
  args: {},
  options: {
    since: required(sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h for that long ago")),
    output: text("-o, --output <file>", "write here instead of stdout"),
  },
  async run(context, { since, output }) {
    if (context.globals.json && output === undefined) {
      throw usageError("--json prints one JSON document, JSON lines are many.", "Leave it out, or write with -o FILE.");
    }
    return context.withStore(async ({ store, clock }) => {
      const written = { rows: 0, signatures: 0 };
      const lines = linesOf(store, momentOf(since, clock.now()), written);
      if (output === undefined) {
        await writeToStdout(lines);
        return null;
      }
      await writeNewFile(output, lines);
      const { rows, signatures } = written;
      const words = `${rows} ${rows === 1 ? "row" : "rows"} and ${signatures} signatures written to ${output}`;
      return { json: { file: output, ...written }, text: () => words };
    });
  },
});

/** The lines, counted as they go. */
async function* linesOf(store: Store, since: number, written: { rows: number; signatures: number }) {
  const { exportEvidence } = await import("../../../core/evidence/export.ts");
  for await (const { kind, text } of exportEvidence(store, { since })) {
    if (kind === "row") written.rows += 1;
    if (kind === "head") written.signatures += 1;
    yield `${text}\n`;
  }
}
