import { dataWords } from "../../../core/catalog/data-words.ts";
import { listOwnProducts, showOwnProduct } from "../../../core/catalog/own.ts";
import type { Product } from "../../../core/catalog/product.ts";
import { planTypes } from "../../../core/store/schema/values.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { type Fields, LinkButton, pageShown, record } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { EXPORT } from "./catalog-export.tsx";

const dataOf = ({ data_amount_mb: mb }: Product) => (mb === 0 ? null : dataWords(mb));

const columns: Column<Product>[] = [
  { title: "Product", cell: (one) => ({ text: one.name, to: `/catalog/${one.id}` }) },
  { title: "SKU", cell: (one) => one.sku },
  { title: "Region", cell: (one) => one.region },
  { title: "Data", cell: dataOf },
  { title: "Days", right: true, cell: (one) => one.validity_days },
  { title: "Price", right: true, cell: (one) => ({ money: one.price_cents, currency: one.currency }) },
];

const sold = { status: "active", sort_by: "name", sort_order: "asc" } as const;

function catalogPage(visit: PortalVisit): Promise<Shown> {
  const { partnerId } = visit.owner;
  return listed(visit, {
    ...{ path: "/catalog", title: "Catalog", caption: "Products", columns },
    filters: [
      { name: "country", label: "Country" },
      { name: "region", label: "Region" },
      { name: "type", label: "Plan", options: planTypes },
    ],
    read: (page, chosen) => visit.store.list(listOwnProducts, { partnerId, ...sold, ...chosen, ...page }),
    empty: "No product fits. Leave a filter out to see more.",
    none: "No products yet.",
    above: (
      <div class="acts">
        <LinkButton visit={visit} to={EXPORT} words="Export for shops" />
      </div>
    ),
  });
}

async function productPage(visit: PortalVisit): Promise<Shown> {
  const one = await visit.store.read(showOwnProduct, { partnerId: visit.owner.partnerId, id: idIn(visit) });
  const order = visit.may("orders.write") && (
    <LinkButton visit={visit} to={`/orders?product=${encodeURIComponent(one.sku)}`} words="Order it" main />
  );
  const fields: Fields = [
    ["SKU", one.sku],
    ["Price", { money: one.price_cents, currency: one.currency }],
    ["Data", dataOf(one)],
    ["Days", one.validity_days],
    ["Plan", plain(one.type)],
    ["Kind", plain(one.product_type)],
    ["Network", one.network_type],
    ["Activation", one.activation_policy && plain(one.activation_policy)],
    ["Countries", one.coverage.join(", ")],
    ["Features", one.features?.join(", ") ?? null],
    ["Devices", one.compatible_devices?.join(", ") ?? null],
  ];
  return pageShown(visit, one.name, [one.description && <p>{one.description}</p>, record(visit, fields, order)]);
}

export const catalogPages = [
  portalPage({ path: "/catalog", needs: "catalog.read", show: catalogPage }),
  portalPage({ path: "/catalog/:id", needs: "catalog.read", show: productPage }),
];
