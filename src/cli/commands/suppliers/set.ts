import { supplierAdapters } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { address, argument, choice, text } from "../../kernel/input.ts";
import { readBounded } from "../../kernel/read-bounded.ts";
import { exchangeOptions, exchangeSettings } from "../../place/exchange.ts";
import { OPERATOR } from "../../place/operator.ts";
import { SUPPLIER_JSON, supplierResult } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Holds from the next request to it. Products name their supplier in the catalog. An address beyond this machine " +
    "is https, unless --insecure allows it.",
  json: SUPPLIER_JSON,
  examples: [
    "suppliers set northwind --adapter http --url https://api.northwind.example/esims --secret -",
    "suppliers set kestrel --adapter email --to orders@kestrel.example --template mail.txt",
  ],
  args: { name: argument("name", "the supplier, as products name it") },
  options: {
    adapter: choice("--adapter <adapter>", supplierAdapters, "signed HTTP, or mail (default for a new one)"),
    url: address("--url <url>", "where the http adapter posts to"),
    ...exchangeOptions,
    to: text("--to <address>", "the address that the email adapter writes to"),
    template: text("--template <file>", 'the mail: first line "Subject: …", an empty line, then the text'),
  },
  async run(context, { name, secret, template: file, ...rest }) {
    const { setSupplier } = await import("../../../core/suppliers/set.ts");
    const exchange = await exchangeSettings(context, secret);
    const settings = { ...rest, ...exchange, template: file === undefined ? undefined : await readTemplate(file) };
    const input = { name, settings, actor: OPERATOR };
    const supplier = await context.withStore(({ store }) => store.write(setSupplier, input));
    return supplierResult(supplier);
  },
});

async function readTemplate(file: string): Promise<string> {
  try {
    return await readBounded(file, 1, "A template is a page of text.");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError("template_unreadable", `The template ${file} cannot be read.`, "Check its name and rights.");
  }
}
