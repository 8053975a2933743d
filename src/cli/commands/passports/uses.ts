import type { PassportUse } from "../../../core/passports/operator-view.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { listResult } from "../../output/result.ts";
import { findEverywhere, useColumns } from "./passport.ts";

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only.",
  json: "{data: [{id, passport_id, brand, carrier, request_id, actor, drawn_at, released_at}], count}",
  examples: ["passports uses 018159083", "passports uses -"],
  args: {
    number: argument("number", "the passport number or a record's id; - reads it from standard input", "secret"),
  },
  options: {},
  async run(context, { number }) {
    const { passportUses } = await import("../../../core/passports/operator-view.ts");
    const typed = await readSecretArgument(number, "Passport number:", context.globals);
    const found = await context.withStore(async ({ store }) => {
      const all: PassportUse[] = [];
      for (const { id } of await findEverywhere(store, typed)) all.push(...(await store.read(passportUses, id)));
      return all;
    });
    return listResult(found, useColumns, "It was never drawn.");
  },
});
