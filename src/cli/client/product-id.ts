import { isUuid } from "../../core/kernel/is-uuid.ts";
import { type ProductStatus, productStatuses } from "../../core/store/schema/values.ts";
import { CliError } from "../kernel/errors.ts";
import type { Product } from "./answers.ts";
import { type Api, apiPath } from "./api.ts";
import { listAll } from "./pages.ts";

/** Ids by SKU, read once for an API: a file of orders names the same few products again and again. */
const catalogs = new WeakMap<Api, Map<ProductStatus, Promise<Map<string, string>>>>();

/** The id of the product that `given` names: an id stays, a SKU is looked up in the catalog. Throws `not_found`. */
export async function productId(api: Api, given: string): Promise<string> {
  if (isUuid(given)) return given;
  for (const status of productStatuses) {
    const id = (await idsBySku(api, status)).get(given);
    if (id !== undefined) return id;
  }
  throw noSuchSku(given);
}

/** No product has this SKU. */
export function noSuchSku(sku: string): CliError {
  return new CliError("not_found", `No product has the SKU ${sku}.`, "See esimctl products list --all.");
}

function idsBySku(api: Api, status: ProductStatus): Promise<Map<string, string>> {
  const read = catalogs.get(api) ?? new Map<ProductStatus, Promise<Map<string, string>>>();
  catalogs.set(api, read);
  const ids = read.get(status) ?? readIds(api, status);
  read.set(status, ids);
  return ids;
}

async function readIds(api: Api, status: ProductStatus): Promise<Map<string, string>> {
  const products = await listAll<Product>(api, apiPath`/products`, { status });
  return new Map(products.map(({ id, sku }) => [sku, id]));
}
