import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { flag, required } from "../../kernel/input.ts";
import { momentOf, since } from "../../kernel/input-time.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects:
    "Permanently clears the identity data of what ended that long ago, without asking: passports withdrawn or " +
    "expired then are deleted; of activations and orders that ended then, names, addresses, documents, contacts, " +
    "EIDs, notes and the answers of carriers and suppliers go, with the bodies of their events. Then it empties " +
    "SQLite's write-ahead log, so that no file holds them, or vacuums PostgreSQL's tables. What is open stays " +
    "whole. Money, order numbers, ICCIDs, states and uses stay recorded. Cut off, the same command goes on.",
  json: "{before, dry_run, passports, activations, order_items, orders, order_keys, erased}",
  examples: [
    "passports purge --older-than 365d --dry-run",
    "passports purge --older-than 365d",
    "passports purge --older-than 2026-01-01 --json",
  ],
  batches: true,
  args: {},
  options: {
    olderThan: required(since("--older-than <time>", "365d for that long ago, or a date such as 2026-01-01")),
    dryRun: flag("--dry-run", "count what would be cleared, and change nothing"),
  },
  async run(context, { olderThan, dryRun }) {
    const [{ purge }, { eraseRemains, NOT_ERASED }] = await Promise.all([
      import("../../../core/erasure/purge.ts"),
      import("../../place/erase-remains.ts"),
    ]);
    return context.withStore(async ({ store, clock }) => {
      const before = momentOf(olderThan, clock.now());
      if (before > clock.now()) throw usageError("--older-than lies in the future.", "Name a time that is past.");
      const signal = context.interruption;
      const { order_items, order_keys, ...cleared } = await purge(store, { before, actor: OPERATOR, dryRun, signal });
      const erased = dryRun ? null : await eraseRemains(store, signal);
      const at = new Date(before).toISOString();
      const counts = { passports: cleared.passports, activations: cleared.activations };
      const words = { ...counts, travelers: order_items, customers: cleared.orders, "keys of orders": order_keys };
      const text = Object.fromEntries(Object.entries(words).map(([name, count]) => [name, String(count)]));
      const exitCode = signal.aborted ? exitCodes.interrupted : exitCodes.done;
      const json = { before: at, dry_run: dryRun, ...cleared, order_items, order_keys, erased };
      const more = dryRun ? "Nothing was changed." : erased === false ? NOT_ERASED : undefined;
      return { ...recordResult(json, () => ({ before: at, ...text }), more), exitCode };
    });
  },
});
