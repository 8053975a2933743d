import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { type Argument, optionalArgument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";

const setting: Argument<"bank-details"> = {
  syntax: "<bank-details>",
  help: "what is set",
  ask: { oneOf: ["bank-details"] },
  read(given) {
    if (given === "bank-details") return given;
    throw usageError(`settings set knows bank-details, not "${String(given)}".`, "See settings set --help.");
  },
};

/** Larger files hold something else. */
const MOST_BYTES = 16 * 1024;

export default command({
  target: "operator",
  effects:
    "Partners see the text in the portal, beside the reference of what they announce. Without a file the text is " +
    "removed.",
  json: "bank_details (the text, or null)",
  examples: ["settings set bank-details bank.txt", "settings set bank-details"],
  args: { setting, file: optionalArgument("file", "a text file in UTF-8, at most 4,000 characters") },
  options: {},
  async run(context, { file }) {
    const [{ setBankDetails }, { readFile }] = await Promise.all([
      import("../../../core/wallet/bank-details.ts"),
      import("node:fs/promises"),
    ]);
    const bytes = file === undefined ? null : await readFile(file).catch(() => null);
    if (file !== undefined && bytes === null) throw usageError(`${file} cannot be read.`, "Name a text file.");
    if ((bytes?.length ?? 0) > MOST_BYTES) throw usageError(`${file} is too large.`, "Name a file of a few lines.");
    const text = bytes === null ? null : new TextDecoder("utf-8", { fatal: false }).decode(bytes);
    if (text?.includes("\ufffd")) throw usageError(`${file} is not UTF-8 text.`, "Save it as UTF-8.");
    const bank_details = await context.withStore(({ store }) => store.write(setBankDetails, { text, actor: OPERATOR }));
    return recordResult({ bank_details }, () => ({ "bank details": shown(bank_details) }));
  },
});
