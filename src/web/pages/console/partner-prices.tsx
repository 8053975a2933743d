import type { ComponentChildren } from "preact";
import { invalid } from "../../../core/kernel/problem.ts";
import { type PartnerPrice, type PriceMove, partnerPrices, priceMoves } from "../../../core/partners/prices.ts";
import { updatePartner } from "../../../core/partners/update.ts";
import { hasPriceList, listPriceLists } from "../../../core/prices/lists.ts";
import { KEPT_PRICES } from "../../../core/prices/words.ts";
import type { Read } from "../../../core/store/store.ts";
import { formShown } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { partOfWhole } from "../../parts/part-of-whole.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, requiredField, type Shown } from "../../session/visit.ts";
import { PartnerLinks, slugOf } from "./partner-links.tsx";
import { priceMovesShown } from "./price-moves.tsx";

const columns: readonly Column<PartnerPrice>[] = [
  { title: "SKU", cell: ({ sku }) => sku },
  { title: "Name", cell: ({ name }) => name },
  { title: "Price", right: true, cell: ({ price_cents: money, currency }) => ({ money, currency }) },
  { title: "The catalog's", right: true, cell: ({ catalog_price_cents: money, currency }) => ({ money, currency }) },
  {
    title: "By",
    cell: ({ price_list: by }) => (by === null ? "catalog" : { text: by, to: `/prices/${encodeURIComponent(by)}` }),
  },
];

async function pricesPage(visit: ConsoleVisit): Promise<Shown> {
  const slug = slugOf(visit);
  const { price_list, products } = await visit.store.read(partnerPrices, slug);
  return listed(visit, {
    ...{ title: `Prices of ${slug}`, path: `/partners/${slug}/prices`, columns },
    filters: [{ name: "sku", label: "SKU begins with" }],
    read: async (page, { sku = "" }) =>
      partOfWhole(
        products.filter((one) => one.sku.toLowerCase().startsWith(sku.toLowerCase())),
        page,
      ),
    empty: "No product is active.",
    above: async () => (
      <>
        <PartnerLinks visit={visit} slug={slug} />
        {visit.may("catalog.write") ? await listForm(visit, price_list) : <p>Price list: {price_list ?? "none"}.</p>}
        <h2>What it pays</h2>
        <p>What one unit of each active product costs the partner today (UTC).</p>
      </>
    ),
  });
}

/** The choice of no list: none can have this name. */
const CATALOG = "-";

async function listForm(visit: ConsoleVisit, now: string | null): Promise<ComponentChildren> {
  const lists = (await visit.store.read(listPriceLists, null)).map(({ name }) => [name, name] as const);
  const options = [[CATALOG, "The catalog's prices"] as const, ...lists];
  return formShown(visit, {
    ...{ title: "Whose prices it has", to: `/partners/${slugOf(visit)}/prices`, submit: "Show what changes" },
    fields: [{ name: "price_list", label: "Price list", options, value: now ?? CATALOG }],
  });
}

/** What another list changes for a partner. Throws `not_found` for the partner, `validation` for the list. */
async function consider(q: Read, { slug, list }: { slug: string; list: string | null }) {
  if (list !== null && !(await hasPriceList(q, list))) {
    throw invalid({ price_list: [`must be a price list: there is none of the name "${list}"`] });
  }
  return { slug, list, moves: await priceMoves(q, { slug, list }) };
}

function consideredIn(visit: ConsoleVisit) {
  const list = requiredField(visit.form, "price_list");
  return visit.store.read(consider, { slug: slugOf(visit), list: list === CATALOG ? null : list });
}

const pricesWords = (list: string | null) => (list === null ? "the catalog's prices" : `the prices of ${list}`);

/** Changes that a preview shows. */
const MOST_SHOWN = 200;

function movesShown(visit: ConsoleVisit, moves: readonly PriceMove[]): ComponentChildren {
  const empty = "No price of one unit changes.";
  return (
    <>
      {priceMovesShown(visit, moves, { caption: "Prices that change", empty, most: MOST_SHOWN })}
      <p>It holds at the partner's next request. {KEPT_PRICES}</p>
    </>
  );
}

const setList = actPage({
  read: consideredIn,
  at: ({ slug }) => `/partners/${slug}/prices`,
  title: ({ slug, list }) => `Give ${slug} ${pricesWords(list)}?`,
  ...{ button: "Set the price list", carried: ["price_list"], command: updatePartner },
  input: (_visit, { slug, list: priceList }) => ({ slug, priceList }),
  foresee: (_partner, { moves }, visit) => movesShown(visit, moves),
  done: (_partner, { slug, list }) => `${slug} has ${pricesWords(list)}.`,
});

const path = "/partners/:slug/prices";

/** What a partner pays, and the price list that it has. */
export const partnerPricePages = [
  consolePage({ path, needs: "partners.read", show: pricesPage }),
  consolePage({ path, needs: "catalog.write", ...setList, again: pricesPage }),
];
