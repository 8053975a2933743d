import { command } from "../frame/command.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { findingLines } from "../output/words.ts";
import { locationAt } from "../place/location.ts";

export default command({
  target: "operator",
  shows: "record",
  effects:
    "Reads only, also while serve runs: database, schema, key file, ledger, evidence, stock, stuck " +
    "work, suppliers and carriers that fail, whether it is served, clock, disk space. " +
    "Exit code 1 only for faults; warnings are none.",
  json: "{ok, findings: [{check, level (ok | warning | fault), message, remedy}]}",
  examples: ["doctor", "doctor --data /var/lib/esimctl --json"],
  args: {},
  options: {},
  async run(context) {
    const [{ runChecks }, { isSound }, { systemClock }] = await Promise.all([
      import("../../core/maintenance/doctor.ts"),
      import("../../core/maintenance/finding.ts"),
      import("../../core/kernel/clock.ts"),
    ]);
    const findings = await runChecks({ ...(await locationAt(await context.place())), clock: systemClock });
    const ok = isSound(findings);
    return {
      json: { ok, findings },
      exitCode: ok ? exitCodes.done : exitCodes.failed,
      text: (sheet) => findingLines(sheet, findings).join("\n"),
    };
  },
});
