import type { Check } from "../../../core/supply/provider.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { LACKS, withProviders } from "./provider.ts";

const columns: Column<Check>[] = [
  { title: "check", value: ({ name }) => name },
  {
    title: "result",
    value: ({ ok }) => (ok ? "ok" : "failed"),
    paint: ({ paint }, { ok }) => (ok ? paint.green : paint.red),
  },
  { title: "detail", value: ({ detail }) => detail, wraps: true },
];

export default command({
  target: "operator",
  shows: "record",
  effects: "Asks the provider; buys and changes nothing. Exit code 1 when a check fails.",
  json: "{ok, supplier, adapter, checks: [{name (credential | balance | clock | catalog), ok, detail}], latency_ms}",
  examples: ["suppliers check ea", "suppliers check ea --json"],
  args: { name: argument("name", "the provider") },
  options: {},
  async run(context, { name }) {
    return withProviders(context, async (reach) => {
      const contact = await reach.contact(name);
      const provider = reach.of(contact);
      const began = performance.now();
      const lacking: Check[] = [{ name: "credential", ok: false, detail: `it ${LACKS}: suppliers set ${name}` }];
      const checks = provider === null ? lacking : await provider.check();
      const latency_ms = Math.round(performance.now() - began);
      const ok = checks.length > 0 && checks.every((check) => check.ok);
      const { adapter } = contact;
      return {
        json: { ok, supplier: name, adapter, checks, latency_ms },
        exitCode: ok ? exitCodes.done : exitCodes.failed,
        text: (sheet) => `${sheet.table(columns, checks, "Nothing was proved.")}\n\n${name}: ${latency_ms} ms`,
      };
    });
  },
});
