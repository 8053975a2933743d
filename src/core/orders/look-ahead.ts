import { lookAtProducts } from "../catalog/product.ts";
import { lookAtPools } from "../esims/stock-in-run.ts";
import type { ProductId } from "../kernel/brand.ts";
import { type Environment, environments } from "../kernel/environment.ts";
import { together } from "../kernel/together.ts";
import { lookAtAudiences } from "../outbox/audience.ts";
import type { Feed } from "../outbox/feed-number.ts";
import type { Tx } from "../store/store.ts";
import { lookAtWallets } from "../wallet/held.ts";
import { type AskedOrder, lookAtRails } from "./assess.ts";
import { lookAtKeys, type OwnKey } from "./idempotency.ts";
import { findNumbers } from "./new-number.ts";

/** An order that waits, as far as it is known what it asks the database for. */
interface Expected extends AskedOrder {
  key: Pick<OwnKey, "space"> & { value: string };
}

/**
 * Looks up together what these orders of one run will ask for: one round trip for all of them. What is left out here,
 * as by the sandbox, each asks for by itself.
 */
export async function lookAhead(tx: Tx, orders: readonly Expected[]): Promise<void> {
  const products = productsOf(orders);
  await together(
    lookAtKeys(tx, orders.map(keyOf)),
    findNumbers(tx, orders.length),
    lookAtProducts(tx, products),
    // Callers may pass any text; only the ID of a product has a pool.
    lookAtPools(tx, productsOf(orders.filter(isCharged)) as ProductId[]),
    lookAtRails(
      tx,
      orders.flatMap(({ credential }) => credential ?? []),
    ),
    lookAtWallets(
      tx,
      orders.map(({ partnerId }) => partnerId),
    ),
    ...environments.map((environment) => lookAtAudiences(tx, environment, feedsOf(orders, environment))),
  );
}

function isCharged({ environment }: Expected): boolean {
  return environment === "production";
}

function productsOf(orders: readonly Expected[]): string[] {
  return orders.flatMap(({ lines }) => lines.map(({ product_id }) => product_id));
}

function feedsOf(orders: readonly Expected[], environment: Environment): Feed[] {
  const partners = orders.filter((order) => order.environment === environment).map(({ partnerId }) => partnerId);
  return [...new Set(partners)].map((partner_id) => ({ partner_id, environment }));
}

function keyOf({ partnerId, environment, key }: Expected & { environment: Environment }): OwnKey {
  return { partner_id: partnerId, environment, space: key.space, key: key.value };
}
