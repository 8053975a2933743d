import { carrierAdapters } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { argument, choice, integer, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { exchangeOptions, exchangeSettings } from "../../place/exchange-options.ts";
import { OPERATOR } from "../../place/operator.ts";
import { CARRIER_JSON, carrierFields } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Holds from the next request on; what is left out stays as it is. See docs/carriers.md for the exchange. " +
    "An address beyond this machine is https, unless --insecure allows it.",
  json: CARRIER_JSON,
  examples: [
    "carriers set 896103 --adapter http --url https://carrier.example/activate --secret -",
    'carriers set 8964 --name "Carrier C (Fiji)" --brand carrier-c --region Fiji --required first_name,passport_no',
  ],
  args: { prefix: argument("prefix", "the digits that its ICCIDs begin with; the longest one wins") },
  options: {
    name: text("--name <name>", "its name, as partners see it"),
    brand: text("--brand <brand>", "carriers of one brand share the cap on passport uses"),
    region: text("--region <region>", "its region (default for a new one: Australia)"),
    adapter: choice("--adapter <adapter>", carrierAdapters, "how it is reached (default: manual)"),
    url: text("--url <url>", "where the http adapter posts to"),
    ...exchangeOptions,
    needed: text("--required <fields>", "identity fields it needs, with commas between"),
    timeout: integer("--timeout <seconds>", "how long one exchange may take, 1 to 30", { min: 1, max: 30 }),
    within: integer("--answer-within <hours>", "how long after acceptance its final answer may take", { min: 1 }),
  },
  async run(context, { prefix, secret, needed, timeout, within, ...rest }) {
    const { setCarrier } = await import("../../../core/carriers/set.ts");
    const settings = {
      ...rest,
      ...(await exchangeSettings(context, secret)),
      required_fields: needed?.split(",").map((field) => field.trim()),
      timeout_ms: timeout === undefined ? undefined : timeout * 1000,
      answer_within_ms: within === undefined ? undefined : within * 3_600_000,
    };
    const input = { prefix, settings, actor: OPERATOR };
    const carrier = await context.withStore(({ store }) => store.write(setCarrier, input));
    return recordResult(carrier, () => carrierFields(carrier));
  },
});
