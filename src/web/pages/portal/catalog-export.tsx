import { listOwnProducts } from "../../../core/catalog/own.ts";
import { parseMarkup, STANDARD_MARKUP } from "../../../core/catalog/retail-price.ts";
import { type Offer, type OfferTerms, toOffer } from "../../../core/catalog/sync/offer.ts";
import { shopCsv, shopJson } from "../../../core/catalog/sync/shop-file.ts";
import { type ShopFormat, shopFormatNames } from "../../../core/catalog/sync/shop-formats.ts";
import { isoTime } from "../../../core/kernel/clock.ts";
import { isLoopbackHost } from "../../../core/kernel/http-url.ts";
import { requireCurrency } from "../../../core/kernel/money.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { planTypes } from "../../../core/store/schema/values.ts";
import { formShown } from "../../parts/act-form.tsx";
import { begun } from "../../parts/begun.ts";
import { backLink, pageShown } from "../../parts/shown.tsx";
import { portalPage } from "../../session/page.ts";
import {
  choiceField,
  chosen,
  optionalField,
  type PortalVisit,
  requiredField,
  type Shown,
} from "../../session/visit.ts";

/** Where shops' files are made. */
export const EXPORT = "/catalog/export";

const formats: [ShopFormat, string][] = [
  ["shopify", "Shopify"],
  ["woocommerce", "WooCommerce"],
  ["generic", "Any other"],
];
const all = ["", "all of them"] as const;

function exportPage(visit: PortalVisit): Shown {
  const pictures = visit.context.addresses.publicUrl;
  const isHere = isLoopbackHost(new URL(pictures).hostname);
  return pageShown(
    visit,
    "Export for shops",
    <>
      <p>Your catalog as the product importer of a shop takes it, with the prices that your customers pay.</p>
      {isHere && <p class="alert">Pictures are at {pictures}, this machine: no shop can load them.</p>}
      {formShown(visit, {
        to: EXPORT,
        submit: "Download",
        fields: [
          { name: "format", label: "Shop", options: formats },
          {
            name: "form",
            label: "File",
            options: [
              ["csv", "CSV, for the importer"],
              ["json", "JSON, as the API has it"],
            ],
          },
          {
            ...{ name: "markup", label: "Percent on top of your price", inputmode: "decimal", required: true },
            ...{ value: String(STANDARD_MARKUP) },
          },
          { name: "currency", label: "Currency", hint: "Prices in this one alone: a shop takes no more than one." },
          { name: "country", label: "Country" },
          { name: "region", label: "Region" },
          { name: "type", label: "Plan", options: [all, ...planTypes] },
          "In CSV an apostrophe is before what a spreadsheet would run as a formula.",
        ],
      })}
      {backLink(visit, "/catalog", "Catalog")}
    </>,
  );
}

/** The partner's catalog as a shop would sell it, oldest first: a page of it is in memory at a time. */
async function* ownOffers({ form, store, owner }: PortalVisit, terms: OfferTerms): AsyncGenerator<Offer> {
  const currency = optionalField(form, "currency")?.toUpperCase();
  if (currency !== undefined) requireCurrency(currency);
  const filter = {
    partnerId: owner.partnerId,
    limit: 100,
    status: "active",
    sort_by: "created_at",
    sort_order: "asc",
    country: optionalField(form, "country"),
    region: optionalField(form, "region"),
    type: chosen(form, "type", planTypes),
  } as const;
  let cursor: string | undefined;
  do {
    const { data, pagination } = await store.list(listOwnProducts, { ...filter, cursor });
    for (const product of data) {
      if (currency === undefined || product.currency === currency) yield toOffer(product, terms);
    }
    cursor = pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

async function exportFile(visit: PortalVisit): Promise<Shown> {
  const { form, context } = visit;
  const format = choiceField(form, "format", shopFormatNames);
  const as = choiceField(form, "form", ["csv", "json"]);
  const terms = { markup: parseMarkup(requiredField(form, "markup")), pictures: context.addresses.publicUrl };
  const offers = await begun(ownOffers(visit, terms));
  if (offers === null) throw new Problem("conflict", "No product fits. Leave a filter out.");
  const name = `catalog-${format}.${as}`;
  if (as === "csv") return { file: shopCsv(format, offers), type: "text/csv; charset=utf-8", name };
  const at = isoTime(context.clock.now());
  return { file: shopJson(format, offers, at), type: "application/json; charset=utf-8", name };
}

export const catalogExportPages = [
  portalPage({ path: EXPORT, needs: "catalog.read", show: exportPage, act: exportFile }),
];
