import type { ProductDetail } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { PRODUCT_JSON, productResult } from "./view.ts";

export default command({
  target: "catalog",
  shows: "record",
  effects: "Reads only.",
  json: PRODUCT_JSON,
  examples: ["products show ES-GLB-1GB-7D", "products show 0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c --json"],
  args: { product: argument("product", "its id or SKU") },
  options: {},
  async run(context, { product }) {
    return context.withApi(async (api) => {
      const id = await productId(api, product);
      return productResult((await api.request<ProductDetail>("GET", apiPath`/products/${id}`)).body);
    });
  },
});
