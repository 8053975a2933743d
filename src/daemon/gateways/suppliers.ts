import { isRefused } from "../../core/kernel/http-url.ts";
import type { ClaimedItem } from "../../core/supplier-requests/due.ts";
import type { SupplyOutcome } from "../../core/supplier-requests/outcome.ts";
import { type MailFacts, renderMail, STANDARD_TEMPLATE } from "../../core/suppliers/mail-template.ts";
import type { SupplierContact } from "../../core/suppliers/supplier.ts";
import type { Mailer } from "./mailer.ts";
import type { SignedExchange, SignedResponse } from "./signed-exchange.ts";
import { type OrderedUnits, readSupplierResponse } from "./supplier-response.ts";

/** The result of one exchange. */
export interface Supplied {
  outcome: SupplyOutcome;
  /** Null where no response came, and by mail. */
  statusCode: number | null;
  latencyMs: number | null;
}

/** Sends requests to every supplier, whatever its adapter. */
export interface SupplierGateway {
  /** Sends one item. Never throws: a supplier that cannot be reached is an outcome. */
  send(item: ClaimedItem, contact: SupplierContact | null): Promise<Supplied>;
}

interface GatewayDependencies {
  exchange: SignedExchange;
  mailer: Mailer;
  publicUrl: string;
}

/** How long a supplier's answer to one request may take. */
const TIMEOUT_MS = 30_000;

/** The path that a supplier calls back at, under the public address. */
function supplierCallbackPath(name: string): string {
  return `/api/v1/callbacks/suppliers/${encodeURIComponent(name)}`;
}

/** What an `activated` answer must bring for an item. */
export function askedFor(item: ClaimedItem["item"], deliveryMethod: string): OrderedUnits {
  return { least: deliveryMethod === "supplier_api" ? item.quantity : 0, most: item.quantity };
}

/** Gateways to all suppliers. */
export function createSupplierGateway({ exchange, mailer, publicUrl }: GatewayDependencies): SupplierGateway {
  return {
    async send(claimed, contact) {
      if (contact === null) return unsent("it is not set up (suppliers set)");
      const wanted = claimed.delivery_method === "supplier_email" ? "email" : "http";
      if (contact.adapter !== wanted) return unsent(`its adapter is not ${wanted}`);
      return wanted === "email" ? byMail(mailer, claimed, contact) : byHttp(exchange, claimed, contact, publicUrl);
    },
  };
}

async function byMail(mailer: Mailer, claimed: ClaimedItem, contact: SupplierContact): Promise<Supplied> {
  if (contact.to === null) return unsent("it has no address to write to");
  const mail = renderMail(contact.template ?? STANDARD_TEMPLATE, factsOf(claimed));
  // The same message ID at every attempt: a server recognizes one that it got before.
  const outcome = await mailer.send({ to: contact.to, reference: claimed.item.id, ...mail });
  return { outcome, statusCode: null, latencyMs: null };
}

async function byHttp(
  exchange: SignedExchange,
  claimed: ClaimedItem,
  { url, secret, name, insecure }: SupplierContact,
  publicUrl: string,
): Promise<Supplied> {
  if (url === null || secret === null) return unsent("it has no address or no secret");
  if (isRefused({ url, insecure })) return unsent("its address is not https (suppliers set)");
  const { item, traveler, order_number, product_sku, delivery_method } = claimed;
  const answer = await exchange.post({
    url,
    secret,
    reference: item.id,
    timeoutMs: TIMEOUT_MS,
    body: {
      reference: item.id,
      kind: delivery_method,
      order_number,
      product_sku,
      quantity: item.quantity,
      traveler,
      callback_url: `${publicUrl}${supplierCallbackPath(name)}`,
    },
  });
  const { statusCode, latencyMs } = answer;
  return { outcome: outcomeOf(answer, askedFor(item, delivery_method)), statusCode, latencyMs };
}

function unsent(reason: string): Supplied {
  return { outcome: { kind: "temporary", reason }, statusCode: null, latencyMs: null };
}

function outcomeOf({ statusCode, fault, body }: SignedResponse, asked: OrderedUnits): SupplyOutcome {
  if (fault === "too_long") return { kind: "temporary", reason: "its response was cut off: too long" };
  if (statusCode === null) return { kind: "temporary", reason: fault === "timeout" ? "timeout" : "no answer" };
  const outcome = readSupplierResponse(body, asked);
  // Only a 2xx with an outcome, or a 4xx with `refused`, is final. Everything else is retried.
  if (statusCode >= 200 && statusCode < 300) return outcome;
  if (statusCode >= 400 && statusCode < 500 && outcome.kind === "refused") return outcome;
  return { kind: "temporary", reason: `it answered ${statusCode}` };
}

function factsOf({ item, traveler, order_number, product_name, product_sku }: ClaimedItem): MailFacts {
  return {
    reference: item.id,
    order_number,
    product_name,
    product_sku,
    quantity: String(item.quantity),
    customer_name: traveler?.customer_name ?? "",
    customer_email: traveler?.customer_email ?? "",
    customer_phone: traveler?.customer_phone ?? "",
    activation_date: traveler?.activation_date ?? "",
    timezone: traveler?.timezone ?? "",
    eid_number: traveler?.eid_number ?? "",
    selected_plan_id: traveler?.selected_plan_id ?? "",
  };
}
