import { operatorList } from "../../frame/list-command.ts";
import { PARTNER_JSON, partnerColumns } from "./view.ts";

export default operatorList({
  json: `{data: [${PARTNER_JSON}], count}`,
  examples: ["partners list", "partners list --json"],
  options: {},
  columns: partnerColumns,
  empty: "No partners yet: esimctl partners create adds one.",
  async read(store) {
    const { listPartners } = await import("../../../core/partners/partner.ts");
    return store.read(listPartners, null);
  },
});
