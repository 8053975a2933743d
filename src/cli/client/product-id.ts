import { CliError } from "../errors.ts";
import { type Api, apiPath } from "./api.ts";
import { listPages } from "./pages.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const statuses = ["active", "out_of_stock", "inactive"] as const;

/** The id of the product that `given` names: an id stays, a SKU is looked up in the catalog. Throws `not_found`. */
export async function productId(api: Api, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  for (const status of statuses) {
    const products = await listPages<{ id: string; sku: string }>(api, apiPath`/products`, { status }, true);
    const found = products.data.find(({ sku }) => sku === given);
    if (found !== undefined) return found.id;
  }
  throw new CliError("not_found", `No product has the SKU ${given}.`, "See esimctl products list --all.");
}
