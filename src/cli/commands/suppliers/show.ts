import type { SupplierDetail } from "../../../core/supply/supplier-detail.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { moment, shown } from "../../output/words.ts";
import { supplierFields } from "./view.ts";

export default command({
  target: "operator",
  shows: "record",
  effects:
    "Reads only. A provider's callback address is secret: what comes there is looked up at the provider, and forged " +
    "notices would cost look-ups.",
  json:
    "{name, adapter, url, insecure, has_secret, to, has_template, paused, updated_at, callback_url (null: not served " +
    "yet), callback_path, balance, balance_currency, balance_at, low_balance, markup (percent), sku_prefix, " +
    "synced_at, circuit (closed | open | half_open), circuit_since, circuit_reason}",
  examples: ["suppliers show ea", "suppliers show ea --json"],
  args: { name: argument("name", "the supplier") },
  options: {},
  async run(context, { name }) {
    const { supplierDetail } = await import("../../../core/supply/supplier-detail.ts");
    const detail = await context.withStore(({ store }) => store.read(supplierDetail, name));
    return recordResult(detail, () => ({ ...supplierFields(detail), ...providerFields(detail) }));
  },
});

function providerFields(detail: SupplierDetail): Record<string, string> {
  const { callback_path, callback_url, balance, balance_currency, balance_at, low_balance, circuit } = detail;
  const why = circuit === "closed" ? "" : ` since ${moment(detail.circuit_since)}: ${shown(detail.circuit_reason)}`;
  if (callback_path === null) return { circuit: circuit + why };
  const unserved = `${callback_path} (the public address is not known: serve was never started)`;
  return {
    circuit: circuit + why,
    "calls back at": callback_url ?? unserved,
    balance: balance === null ? "-" : `${balance} ${shown(balance_currency)}, seen ${moment(balance_at)}`,
    "low balance": low_balance === null ? "none" : `${low_balance} ${balance_currency ?? ""}`.trimEnd(),
    markup: detail.markup === null ? "-" : `${detail.markup} %`,
    "SKU prefix": shown(detail.sku_prefix),
    "last sync": moment(detail.synced_at),
  };
}
