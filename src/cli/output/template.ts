import { Liquid } from "liquidjs";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { tabbedText } from "./clean.ts";

/**
 * A Liquid template filled from a document: its members are the template's variables. Throws `template_failed` (exit
 * code 2) for a mistake in it, an unknown filter, and a variable that the document does not have.
 */
export async function filled(document: object, template: string): Promise<string> {
  const engine = new Liquid({
    // No files: `include` and `render` find nothing.
    templates: {},
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    ownPropertyOnly: true,
    // The same times wherever it runs.
    timezoneOffset: 0,
  });
  try {
    return tabbedText(String(await engine.parseAndRender(template, document))).replace(/\n$/, "");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [words = ""] = error.message.split("\n");
    const what = `${words.replace(/[.]?$/, "")}.`;
    throw new CliError("template_failed", what, "Correct the template behind --template.", exitCodes.usage);
  }
}
