import { addProducts, suppliedProducts } from "./catalog.ts";
import { deskOf } from "./desk.ts";
import { type Caller, call, type Platform, type PlatformOptions, type Reply, startPlatform } from "./platform.ts";

const slugOf = ({ body }: Reply) => String(body.type).split("/").at(-1);
/** The status of a refusal and its slug. */
export const refusalOf = (reply: Reply) => [reply.status, slugOf(reply)];
/** Headers with an Idempotency-Key that was never used. */
export const key = () => ({ "idempotency-key": crypto.randomUUID() });

/** A platform with products of 1.00 AUD and 1 JPY a piece, its terminal, and a partner with a token of each kind. */
export async function guardedShop(options: PlatformOptions = {}) {
  const platform = await startPlatform(options);
  const products = await addProducts(platform.store, [
    { sku: "SIM", price_cents: 100, product_type: "physical_sim", delivery_method: "shipping" },
    { sku: "YEN", price_cents: 1, currency: "JPY", product_type: "physical_sim", delivery_method: "shipping" },
    ...suppliedProducts,
  ]);
  const live = await platform.caller({ slug: "acme", live: true });
  const sandbox = await platform.credential("acme", {});
  const desk = deskOf(platform);
  const order = (caller: Caller, units: number, headers: Record<string, string> = key(), sku = "SIM") => {
    const body = { line_items: [{ product_id: products[sku], quantity: units }] };
    return caller.send("POST", "/api/v1/orders", body, headers);
  };
  const bulk = async (caller: Caller, units: number[]) => {
    const customer = { email: "a@example.com", name: "A" };
    const orders = units.map((quantity) => ({
      external_order_id: crypto.randomUUID(),
      line_items: [{ product_id: products.SIM, quantity }],
      customer,
    }));
    const { body } = await caller.send("POST", "/api/v1/orders/bulk", { orders });
    return body.results;
  };
  const balance = async () => (await live.get("/api/v1/balance")).body.balances[0];
  return { platform, products, live, sandbox, desk, order, bulk, balance };
}

/** The access token that another peer address gets, or is refused. */
export async function tokenFrom(platform: Platform, { clientId, clientSecret }: Caller, ip?: string) {
  return call(`${platform.url}/api/v1/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(ip === undefined ? {} : { "x-forwarded-for": ip }) },
    body: JSON.stringify({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }),
  });
}
