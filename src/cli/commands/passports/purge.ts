import type { Purge } from "../../../core/passports/purge.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { required } from "../../kernel/input.ts";
import { momentOf, since } from "../../kernel/input-time.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";

/** Records one transaction clears: a running daemon does not wait. */
const BATCH = 200;

export default command({
  target: "operator",
  effects:
    "Permanently deletes passports that were withdrawn or expired that long ago, and clears documents and PUKs of " +
    "activations that ended then; then it empties SQLite's write-ahead log, so that no file holds them, or vacuums " +
    "PostgreSQL's tables. Their uses and outcomes stay recorded.",
  json: "{before, passports, activations, erased}",
  examples: ["passports purge --older-than 365d", "passports purge --older-than 2026-01-01"],
  batches: true,
  args: {},
  options: {
    olderThan: required(since("--older-than <time>", "365d for that long ago, or a date such as 2026-01-01")),
  },
  async run(context, { olderThan }) {
    const [{ purgePassports }, { purgeActivations }, { eraseRemains, NOT_ERASED }] = await Promise.all([
      import("../../../core/passports/purge.ts"),
      import("../../../core/activations/purge.ts"),
      import("../../place/erase-remains.ts"),
    ]);
    const purges: Record<string, Purge> = { passports: purgePassports, activations: purgeActivations };
    return context.withStore(async ({ store, clock }) => {
      const before = momentOf(olderThan, clock.now());
      if (before > clock.now()) throw usageError("--older-than lies in the future.", "Name a time that is past.");
      const cleared: Record<string, number> = {};
      for (const [kind, run] of Object.entries(purges)) {
        let count = -1;
        cleared[kind] = 0;
        while (count !== 0 && !context.interruption.aborted) {
          count = await store.write(run, { before, limit: BATCH, actor: OPERATOR });
          cleared[kind] += count;
        }
      }
      const erased = await eraseRemains(store, context.interruption);
      const json = { before: new Date(before).toISOString(), ...cleared };
      const text = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
      const exitCode = context.interruption.aborted ? exitCodes.interrupted : exitCodes.done;
      return { ...recordResult({ ...json, erased }, () => text, erased ? undefined : NOT_ERASED), exitCode };
    });
  },
});
