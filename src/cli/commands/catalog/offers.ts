import { type Offer, type OfferTerms, toOffer } from "../../../core/catalog/formats/offer.ts";
import type { PageBody, Product } from "../../client/answers.ts";
import { type Api, type Asked, apiPath } from "../../client/api.ts";

/**
 * The catalog as a shop would sell it, one page after the other, so that a catalog of any size takes the memory of one
 * page. GET /catalog/sync answers all at once; this makes the same of the same products by the same functions.
 */
export async function* offers(api: Api, query: NonNullable<Asked["query"]>, terms: OfferTerms): AsyncGenerator<Offer> {
  let cursor: string | undefined;
  do {
    const page = { ...query, status: "active", sort_by: "created_at", sort_order: "asc", limit: 100, cursor };
    const { body } = await api.request<PageBody<Product>>("GET", apiPath`/products`, { query: page });
    for (const product of body.data) yield toOffer(product, terms);
    cursor = body.pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
