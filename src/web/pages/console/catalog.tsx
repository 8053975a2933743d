import type { ComponentChildren } from "preact";
import { dataWords } from "../../../core/catalog/data-words.ts";
import { listProducts, matching } from "../../../core/catalog/list.ts";
import { findProductBySku, type Product, showProduct, toProduct } from "../../../core/catalog/product.ts";
import { availableStock } from "../../../core/esims/stock.ts";
import { invalid, notFound } from "../../../core/kernel/problem.ts";
import { type ProductStatus, planTypes, productPurposes, productStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { partOfWhole } from "../../parts/part-of-whole.ts";
import { LinkButton, pageShown, record } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, idIn, type Shown } from "../../session/visit.ts";
import { storyOf } from "./audit-history.ts";
import { changeForm, changeIt } from "./catalog-change.tsx";
import { timelineShown } from "./history.tsx";
import { productSourcePages, sourcesShown } from "./product-sources.tsx";

const columns: readonly Column<Product>[] = [
  { title: "SKU", cell: (one) => ({ text: one.sku, to: `/catalog/${one.id}` }) },
  { title: "Name", cell: (one) => one.name },
  { title: "Region", cell: (one) => one.region },
  { title: "Data", cell: (one) => (one.data_amount_mb === 0 ? null : dataWords(one.data_amount_mb)) },
  { title: "Days", right: true, cell: (one) => one.validity_days },
  { title: "Price", right: true, cell: (one) => ({ money: one.price_cents, currency: one.currency }) },
  { title: "Delivered by", cell: (one) => plain(one.delivery_method) },
  { title: "Status", cell: (one) => ({ status: one.status }) },
];

function catalogPage(visit: ConsoleVisit): Promise<Shown> {
  const { store } = visit;
  return listed(visit, {
    title: "Catalog",
    path: "/catalog",
    caption: "Products",
    columns,
    filters: [
      { name: "sku", label: "SKU begins with" },
      { name: "status", label: "Status", options: productStatuses },
      { name: "country", label: "Country" },
      { name: "region", label: "Region" },
      { name: "type", label: "Plan", options: planTypes },
    ],
    read: async (page, { sku, ...filter }) => {
      if (sku === undefined) return store.list(ofAnyStatus, { ...filter, ...page });
      return partOfWhole(await store.read(bySku, { ...filter, sku }), page);
    },
    empty: "No product fits. Leave a filter out to see more.",
    none: "No products yet. Import some.",
    above: (
      <div class="acts">
        {visit.may("catalog.write") && <LinkButton visit={visit} to="/catalog/import" words="Import products" main />}
        <LinkButton visit={visit} to="/prices" words="Price lists" />
      </div>
    ),
  });
}

interface CatalogPage extends Omit<Parameters<typeof listProducts>[1], "sort_by" | "sort_order" | "status"> {
  status: ProductStatus | undefined;
}

const all: readonly ProductStatus[] = ["active", "out_of_stock", "inactive"];

/** Products whose SKU begins so, top-ups too, by SKU. */
async function bySku(q: Read, { sku, status, ...filter }: Omit<CatalogPage, "limit" | "cursor"> & { sku: string }) {
  const found: Product[] = [];
  for (const one of status === undefined ? all : [status]) {
    for (const purpose of productPurposes) {
      const rows = await matching(q, { ...filter, status: one, purpose });
      found.push(...rows.filter((row) => row.sku.toLowerCase().startsWith(sku.toLowerCase())).map(toProduct));
    }
  }
  return found.sort((one, other) => (one.sku < other.sku ? -1 : 1));
}

/** Products on sale, then those that are out of stock, then the inactive ones; by name. Each status is a list. */
async function ofAnyStatus(q: Read, { status, limit, cursor, ...filter }: CatalogPage) {
  const statuses = status === undefined ? all : [status];
  const [name = statuses[0], rest = ""] = cursor?.split("~") ?? [];
  const begun = statuses.find((one) => one === name);
  if (begun === undefined) throw invalid({ cursor: ["is not of this list"] });
  const left = statuses.slice(statuses.indexOf(begun));
  const rows: Product[] = [];
  for (const [at, one] of left.entries()) {
    const page = { limit: limit - rows.length, cursor: at === 0 && rest !== "" ? rest : undefined };
    const asked = { ...filter, ...page, status: one, sort_by: "name", sort_order: "asc" } as const;
    const { data, pagination } = await listProducts(q, asked);
    rows.push(...data);
    if (pagination.next_cursor !== null) return { rows, next: `${one}~${pagination.next_cursor}` };
    const following = left[at + 1];
    if (following !== undefined && rows.length === limit) return { rows, next: `${following}~` };
  }
  return { rows, next: null };
}

/** A product with what the operator alone sees of it. Throws `not_found`. */
async function seen(q: Read, id: string) {
  const product = await showProduct(q, id);
  const row = await findProductBySku(q, product.sku);
  if (row === null) throw notFound("product");
  return { product, row, available: await availableStock(q, product.id), history: await storyOf(q, product.id) };
}

type Seen = Awaited<ReturnType<typeof seen>>;

const seenIn = (visit: ConsoleVisit): Promise<Seen> => visit.store.read(seen, idIn(visit));

async function productPage(visit: ConsoleVisit): Promise<Shown> {
  const { product, row, available, history } = await seenIn(visit);
  const body = (
    <>
      {product.description && <p>{product.description}</p>}
      {record(visit, [
        ["SKU", product.sku],
        ["Status", { status: product.status }],
        ["Held", row.held],
        ["Price", { money: product.price_cents, currency: product.currency }],
        ["Data", product.data_amount_mb === 0 ? null : dataWords(product.data_amount_mb)],
        ["Days", product.validity_days],
        ["Plan", plain(product.type)],
        ["Kind", plain(product.product_type)],
        ["Delivered by", plain(product.delivery_method)],
        ["Supplier", row.supplier],
        ["Countries", product.coverage.join(", ")],
        ["Features", product.features?.join(", ") ?? null],
        ["Network", product.network_type],
        ["Activation", product.activation_policy && plain(product.activation_policy)],
        ["Devices", product.compatible_devices?.join(", ") ?? null],
        ["Changed", { time: product.updated_at }],
        ["ID", product.id],
      ])}
      {await sourcesShown(visit)}
      {row.delivery_method === "stock" && stockShown(visit, row, available)}
      {visit.may("catalog.write") && changeForm(visit, row)}
      {await timelineShown(visit, history)}
    </>
  );
  return pageShown(visit, product.name, body);
}

function stockShown(visit: ConsoleVisit, row: Seen["row"], available: number): ComponentChildren {
  const to = `/stock/import?sku=${encodeURIComponent(row.sku)}`;
  return (
    <section>
      <h2>Stock</h2>
      <p>
        {available.toLocaleString("en")} eSIMs are free.{" "}
        {row.low_stock !== null && `An alert is raised below ${row.low_stock}. `}
        {row.when_short === "out_of_stock" ? "It goes off sale when they end." : "Orders wait in review when they end."}
      </p>
      {visit.may("stock.write") && <LinkButton visit={visit} to={to} words="Import eSIMs" />}
    </section>
  );
}

const change = async (visit: ConsoleVisit) => changeIt(visit, (await seenIn(visit)).row);

/** The catalog as the operator keeps it. */
export const consoleCatalogPages = [
  consolePage({ path: "/catalog", needs: "catalog.read", show: catalogPage }),
  consolePage({ path: "/catalog/:id", needs: "catalog.read", show: productPage }),
  consolePage({ path: "/catalog/:id", needs: "catalog.write", act: change, again: productPage }),
  ...productSourcePages(productPage),
];
