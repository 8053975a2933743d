import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { clean } from "../../output/clean.ts";
import { locationAt } from "../../place/location.ts";

export default command({
  target: "operator",
  effects:
    "Reads only, also while serve runs: every row, the heads and signatures of the chains, and that the database " +
    "refuses to change them. Exit code 1 when anything was altered, removed or added.",
  json: "{ok, chains, rows, signatures, faults: [{chain, no, message}] (the first 100), fault_count}",
  examples: ["audit verify", "audit verify --data /var/lib/esimctl --json"],
  args: {},
  options: {},
  async run(context) {
    const [{ verifyEvidence }, { faultWords, soundWords }, { systemClock }] = await Promise.all([
      import("../../../core/maintenance/verify-evidence.ts"),
      import("../../../core/maintenance/evidence-check.ts"),
      import("../../../core/kernel/clock.ts"),
    ]);
    const found = await verifyEvidence({ ...(await locationAt(await context.place())), clock: systemClock });
    return {
      json: found,
      exitCode: found.ok ? exitCodes.done : exitCodes.failed,
      text: ({ paint }) => {
        if (found.ok) return paint.green(soundWords(found));
        const more = found.fault_count - found.faults.length;
        const lines = found.faults.map((fault) => clean(faultWords(fault)));
        const rest = more > 0 ? [`and ${more} more`] : [];
        return [paint.red("The audit trail or the ledger was changed:"), ...lines, ...rest].join("\n");
      },
    };
  },
});
