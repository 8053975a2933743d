import { command } from "../../frame/command.ts";
import { argument, required, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { unverifiedPassport } from "./choices.ts";
import { OPERATOR_PASSPORT_JSON, operatorFields, passportId } from "./passport.ts";

export default command({
  target: "operator",
  picks: unverifiedPassport,
  effects: "The passport is drawn no more; what drew it already goes on. The partner is not notified.",
  json: OPERATOR_PASSPORT_JSON,
  examples: ['passports reject 019c… --reason "photo page not legible"'],
  args: { id: argument("id", "the record's id") },
  options: { reason: required(text("--reason <text>", "why, for your own people")) },
  async run(context, { id, reason }) {
    const [{ recordVerdict }, { showPassport }] = await Promise.all([
      import("../../../core/passports/verdict.ts"),
      import("../../../core/passports/operator-view.ts"),
    ]);
    const passport = await context.withStore(async ({ store }) => {
      const verdict = { id: passportId(id), verification: "rejected", reason, actor: OPERATOR } as const;
      const row = await store.write(recordVerdict, verdict);
      return store.read(showPassport, row.id);
    });
    return recordResult(passport, (sheet) => operatorFields(sheet, passport));
  },
});
