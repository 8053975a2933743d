import {
  planTypes,
  productPurposes,
  productSorts,
  productStatuses,
  sortOrders,
} from "../../../core/store/schema/values.ts";
import type { Product } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing, listOptions } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { choice, text } from "../../kernel/input.ts";
import { PRODUCT_JSON, productColumns } from "./view.ts";

export default command({
  target: "catalog",
  shows: "rows",
  effects: "Reads only.",
  json: `the API's body: {data: [${PRODUCT_JSON.replace("the API's body: ", "")}], pagination}`,
  examples: ["products list", "products list --region Europe --sort-by price_cents --sort-order asc --all"],
  args: {},
  options: {
    ...listOptions,
    region: text("--region <region>", "only this region, in any case"),
    country: text("--country <country>", "only what covers this country: JP, JPN or Japan"),
    type: choice("--type <type>", planTypes, "only this type"),
    purpose: choice("--purpose <purpose>", productPurposes, "topup: what eSIMs are topped up with (default plan)"),
    status: choice("--status <status>", productStatuses, "only this status (default active)"),
    sortBy: choice("--sort-by <field>", productSorts, "default created_at"),
    sortOrder: choice("--sort-order <order>", sortOrders, "default desc"),
  },
  async run(context, { all, sortBy, sortOrder, ...filter }) {
    const query = { ...filter, sort_by: sortBy, sort_order: sortOrder };
    const asked = { path: apiPath`/products`, query, all };
    const look = { columns: productColumns, empty: "No products match." };
    return context.withApi((api) => context.print(dataListing<Product>(api, asked, look)));
  },
});
