import type { MinorUnits } from "../../kernel/brand.ts";
import { minorUnits } from "../../kernel/money.ts";
import { dataWords, dayWords } from "../data-words.ts";
import type { Product } from "../product.ts";
import { type Markup, retailPrice } from "../retail-price.ts";

/** A product as a shop would sell it. */
export interface Offer {
  product: Product;
  /** The suggested retail price, in the product's currency. */
  retail: MinorUnits;
  /** Address of its picture without the ending; null: none is wanted. */
  picture: string | null;
}

/** On what terms products are offered on. */
export interface OfferTerms {
  markup: Markup;
  /** The daemon's public address, which serves the pictures; null: none are wanted. */
  pictures: string | null;
}

/** What of a product all formats are made from. Throws as `retailPrice` does. */
export function toOffer(product: Product, { markup, pictures }: OfferTerms): Offer {
  return {
    product,
    retail: retailPrice(minorUnits(product.price_cents), markup),
    picture: pictures === null ? null : `${pictures}/media/products/${product.id}`,
  };
}

/** The picture as formats list it. Shops of platforms load PNG and refuse SVG. */
export function imagesOf({ product, picture }: Offer, form: "png" | "svg"): { src: string; alt: string }[] {
  return picture === null ? [] : [{ src: `${picture}.${form}`, alt: product.name }];
}

/** "5 GB · 30 days · Europe": what there is to say of every plan. */
export function planWords({ data_amount_mb, validity_days, region }: Product): string {
  return [dataWords(data_amount_mb), dayWords(validity_days), region].join(" · ");
}

const countries = new Intl.DisplayNames(["en"], { type: "region" });

/** Where a plan works, in words: "France, Germany". Names stay; ISO 3166-1 codes become names. */
export function coverageWords({ coverage }: Product): string {
  return coverage.map((place) => (/^[A-Z]{2}$/.test(place) ? (countries.of(place) ?? place) : place)).join(", ");
}
