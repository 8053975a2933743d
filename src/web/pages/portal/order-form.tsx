import type { ComponentChildren } from "preact";
import type { Offered } from "../../../core/catalog/offered.ts";
import { findProductBySku } from "../../../core/catalog/product.ts";
import { payloadHash } from "../../../core/kernel/canonical.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { createOrder, type NewOrder } from "../../../core/orders/create.ts";
import { type Quote, quoteOrder } from "../../../core/orders/quote.ts";
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

/** The order that a form describes, its product by SKU or ID. Throws `validation`. */
async function orderIn(visit: PortalVisit) {
  const { form, store, owner } = visit;
  requireOpenedHere(visit);
  const quantity = integerField(form, "quantity");
  if (quantity < 1) throw invalid({ quantity: ["must be at least 1"] });
  const typed = requiredField(form, "product");
  const product_id = (await store.read(findProductBySku, typed))?.id ?? typed;
  return { ...owner, lines: [{ product_id, quantity }], activationRequests: [], metadata: {}, credential: null };
}

/** What the order of the form would cost. Throws as an order does. */
export async function quoteOf(visit: PortalVisit): Promise<Quote> {
  return visit.store.read(quoteOrder, await orderIn(visit));
}

/** Places the order of the form, once by its key. */
export async function placeOrder(visit: PortalVisit): Promise<Shown> {
  const { form } = visit;
  const order = await orderIn(visit);
  const externalOrderId = optionalField(form, "external_order_id") ?? null;
  const asked: Omit<NewOrder, "actor"> = {
    ...order,
    key: { space: "single", value: `portal ${requiredField(form, KEY_FIELD)}` },
    externalOrderId,
    payloadHash: payloadHash({ lines: order.lines, externalOrderId }),
    customer: null,
  };
  const { order: placed } = await visit.write(createOrder, asked);
  return { to: `/orders/${placed.id}`, notice: `${placed.order_number} is placed.` };
}
