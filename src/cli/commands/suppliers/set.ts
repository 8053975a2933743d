import { supplierAdapters } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { address, argument, choice, decimalOrNone, text } from "../../kernel/input.ts";
import { readBounded } from "../../kernel/read-bounded.ts";
import { exchangeOptions, exchangeSettings } from "../../place/exchange-options.ts";
import { OPERATOR } from "../../place/operator.ts";
import { SUPPLIER_JSON, supplierResult } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Holds from the next request to it. Products name their supplier in the catalog. An address beyond this machine " +
    "is https, unless --insecure allows it. A provider's address is known; its secret is ACCESSCODE:SECRETKEY " +
    "(esimaccess), CLIENT_ID:CLIENT_SECRET (airalo) or the API key (esimgo).",
  json: SUPPLIER_JSON,
  examples: [
    "suppliers set northwind --adapter http --url https://api.northwind.example/esims --secret -",
    "suppliers set ea --adapter esimaccess --secret - --low-balance 50",
    "suppliers set kestrel --adapter email --to orders@kestrel.example --template mail.txt",
  ],
  args: { name: argument("name", "the supplier, as products name it") },
  options: {
    adapter: choice(
      "--adapter <adapter>",
      supplierAdapters,
      "a provider, signed HTTP, or mail (default for a new one)",
    ),
    url: address("--url <url>", "where the http adapter posts to, or another address of a provider's API"),
    ...exchangeOptions,
    secret: text("--secret <secret>", "the key of both signatures, or a provider's credential; - asks for it"),
    lowBalance: decimalOrNone(
      "--low-balance <amount>",
      "nothing is bought of a provider whose account holds less (default 20); none: no such bound",
    ),
    to: text("--to <address>", "the address that the email adapter writes to"),
    template: text("--template <file>", 'the mail: first line "Subject: …", an empty line, then the text'),
  },
  async run(context, { name, secret, template: file, lowBalance: low, ...rest }) {
    const { setUpSupplier } = await import("../../../core/supply/set-up.ts");
    const exchange = await exchangeSettings(context, secret);
    const { parseCost } = await import("../../../core/kernel/cost.ts");
    const lowBalance = typeof low === "string" ? parseCost(low, "low_balance") : low;
    const template = file === undefined ? undefined : await readTemplate(file);
    const settings = { ...rest, ...exchange, lowBalance, template };
    const input = { name, settings, actor: OPERATOR };
    const supplier = await context.withStore(({ store }) => store.write(setUpSupplier, input));
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
