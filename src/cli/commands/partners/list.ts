import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { PARTNER_JSON, partnerColumns } from "./view.ts";

export const list = command({
  name: "list",
  summary: "all partners, by slug",
  target: "operator",
  effects: "Reads only.",
  json: `{data: [${PARTNER_JSON}], count}`,
  examples: ["partners list", "partners list --json"],
  args: {},
  options: {},
  async run(context) {
    const { listPartners } = await import("../../../core/partners/list.ts");
    const partners = await context.withStore(({ store }) => store.read(listPartners, null));
    return listResult(partners, partnerColumns, "No partners yet: esimctl partners create adds one.");
  },
});
