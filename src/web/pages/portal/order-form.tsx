import type { ComponentChildren } from "preact";
import type { Offered } from "../../../core/catalog/offered.ts";
import { findProductBySku } from "../../../core/catalog/product.ts";
import { payloadHash } from "../../../core/kernel/canonical.ts";
import { isUuid } from "../../../core/kernel/is-uuid.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { withFieldNames } from "../../../core/kernel/renamed-fields.ts";
import { createOrder, type NewOrder } from "../../../core/orders/create.ts";
import { type Quote, quoteOrder } from "../../../core/orders/quote.ts";
import { bodyReader } from "../../../daemon/plugins/validation.ts";
import { NewOrder as NewOrderBody } from "../../../daemon/schemas/order.ts";
import { formShown } from "../../parts/act-form.tsx";
import { KEY_FIELD, Submit } from "../../parts/form.tsx";
import { moneyWords } from "../../parts/words.ts";
import {
  field,
  integerField,
  optionalField,
  type PortalVisit,
  requiredField,
  type Shown,
} from "../../session/visit.ts";
import { openedHere, requireOpenedHere } from "./own-pages.ts";

interface Filled {
  visit: PortalVisit;
  quote: Quote | null;
  products: readonly Offered[];
}

/** The form of an order of one product, with its price where that was asked for. */
export function newOrderForm({ visit, quote, products }: Filled): ComponentChildren {
  const value = field(visit.query, "product");
  const suggestions = products.map(
    ({ sku, name, price_cents, currency }) => [sku, `${name}, ${moneyWords(price_cents, currency)}`] as const,
  );
  const about = { hint: "Its SKU; the catalog has all of them.", suggestions, required: true };
  const quoteAt = `${visit.base}/orders/quote`;
  return formShown(visit, {
    ...{ title: "New order", folded: { open: quote !== null || visit.problem !== null || value !== "" } },
    ...{ to: "/orders", keyed: true, quote: quoteAt, hidden: openedHere(visit), submit: "Place the order" },
    fields: [
      { name: "product", label: "Product", value, ...about },
      { name: "quantity", label: "Quantity", type: "number", min: "1", value: "1", required: true },
      { name: "external_order_id", label: "Your own ID of it", hint: "May be left out." },
    ],
    after: (
      <div data-quote-result="" aria-live="polite">
        {quote !== null && <QuoteWords quote={quote} sandbox={visit.owner.environment === "sandbox"} />}
      </div>
    ),
    beside: (
      <Submit kind="plain" to={quoteAt}>
        Show the price
      </Submit>
    ),
  });
}

const deliveries = {
  now: "delivered at once",
  scheduled: "on its day",
  shipping: "by post",
  review: "after a review",
} as const;

function QuoteWords({ quote, sandbox }: { quote: Quote; sandbox: boolean }) {
  const { line_items, total_price_cents, currency, balance_cents, shortfall_cents } = quote;
  return (
    <div class={shortfall_cents > 0 ? "alert bad" : "alert good"}>
      {line_items.map(({ product_name, quantity, subtotal_cents, delivery }) => (
        <p>
          {quantity} × {product_name}: {moneyWords(subtotal_cents, currency)}, {deliveries[delivery]}
        </p>
      ))}
      <p>
        Total {moneyWords(total_price_cents, currency)}
        {sandbox ? "; the sandbox charges nothing." : `; the wallet holds ${moneyWords(balance_cents, currency)}.`}
      </p>
      {shortfall_cents > 0 && <p>{moneyWords(shortfall_cents, currency)} are missing.</p>}
    </div>
  );
}

/** Reads an order as the API does, whose limits hold here too. */
const readOrder = bodyReader(NewOrderBody);

/** What the form calls the parts of such a body. */
const formNames = { "line_items.0.product_id": "product", "line_items.0.quantity": "quantity" };

/** What `act` makes of the order that the form describes, its product by SKU or ID. Throws as an order does. */
async function withOrder<T>(visit: PortalVisit, act: (order: FilledOrder) => Promise<T>): Promise<T> {
  const { form, store, owner } = visit;
  requireOpenedHere(visit);
  const [typed, quantity] = [requiredField(form, "product"), integerField(form, "quantity")];
  const product_id = (await store.read(findProductBySku, typed))?.id ?? typed;
  if (!isUuid(product_id)) throw invalid({ product: ["is not a product of the catalog"] });
  const external_order_id = optionalField(form, "external_order_id");
  try {
    const read = readOrder({ line_items: [{ product_id, quantity }], external_order_id });
    const { line_items: lines, external_order_id: externalOrderId = null } = read;
    return await act({ ...owner, lines, externalOrderId, activationRequests: [], metadata: {}, credential: null });
  } catch (error) {
    throw withFieldNames(error, formNames);
  }
}

type FilledOrder = Omit<NewOrder, "actor" | "key" | "payloadHash" | "customer">;

/** What the order of the form would cost. Throws as an order does. */
export function quoteOf(visit: PortalVisit): Promise<Quote> {
  return withOrder(visit, (order) => visit.store.read(quoteOrder, order));
}

/** Places the order of the form, once by its key. */
export async function placeOrder(visit: PortalVisit): Promise<Shown> {
  const key = { space: "single", value: `portal ${requiredField(visit.form, KEY_FIELD)}` } as const;
  const { order: placed } = await withOrder(visit, (order) => {
    const { lines, externalOrderId } = order;
    const hash = payloadHash({ lines, externalOrderId });
    return visit.write(createOrder, { ...order, key, payloadHash: hash, customer: null });
  });
  return { to: `/orders/${placed.id}`, notice: `${placed.order_number} is placed.` };
}
