import { productStatuses } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { argument, choice, decimal } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { PRODUCT_JSON, productResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Holds at the daemon's next request. Orders already placed keep their price.",
  json: PRODUCT_JSON,
  examples: ["products update ES-GLB-1GB-7D --price 8.40", "products update ES-GLB-1GB-7D --status out_of_stock"],
  args: { sku: argument("sku", "the product") },
  options: {
    price: decimal("--price <amount>", "wholesale price in the product's currency, e.g. 12.00"),
    status: choice("--status <status>", productStatuses, "whether it can be ordered"),
  },
  async run(context, { sku, price, status }) {
    if (price === undefined && status === undefined) {
      throw usageError("There is nothing to change.", "Give --price or --status.");
    }
    const [{ updateProduct }, { findProductBySku }, { parseAmount }] = await Promise.all([
      import("../../../core/catalog/import.ts"),
      import("../../../core/catalog/product.ts"),
      import("../../kernel/amount.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const product = await store.read(findProductBySku, sku);
      if (product === null)
        throw new CliError("not_found", `No such product: ${sku}.`, "Check the SKU: products list.");
      const changes = {
        ...(price === undefined ? {} : { price_cents: parseAmount(price, product.currency, "--price") }),
        ...(status === undefined ? {} : { status }),
      };
      return productResult(await store.write(updateProduct, { sku, ...changes, actor: OPERATOR }));
    });
  },
});
