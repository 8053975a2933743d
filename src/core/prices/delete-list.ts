import { and, eq, isNotNull } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { listPriceLists } from "./lists.ts";

type Named = { name: string };

const dropOfProducts = statement((db, { priceRules: rules }, slot: Slots<Named>) =>
  db.delete(rules).where(and(eq(rules.list, slot.name), isNotNull(rules.product_id))),
);

const dropOfRegions = statement((db, { priceRules: rules }, slot: Slots<Named>) =>
  db.delete(rules).where(and(eq(rules.list, slot.name), isNotNull(rules.region_key))),
);

const dropList = statement((db, { priceLists: lists }, slot: Slots<Named>) =>
  db.delete(lists).where(eq(lists.name, slot.name)),
);

/** A price list that is gone, and how many rules went with it. */
export interface DeletedList {
  name: string;
  rules: number;
  deleted: true;
}

/**
 * Deletes a price list with its rules; lines of orders keep its name. Throws `not_found`, `conflict` while partners
 * have it.
 */
export async function deletePriceList(tx: Tx, { name, actor }: { name: string; actor: Actor }): Promise<DeletedList> {
  const list = (await listPriceLists(tx, null)).find((one) => one.name === name);
  if (list === undefined) throw notFound("price_list", name);
  const { rules, partners } = list;
  if (partners.length > 0) {
    throw new Problem(
      "conflict",
      `${name} is the price list of ${partners.join(", ")}: give them another list or the catalog's prices first.`,
    );
  }
  await dropOfProducts(tx, { name });
  await dropOfRegions(tx, { name });
  await dropList(tx, { name });
  const changes = [{ field: "rules", from: rules, to: 0 }];
  await recordAudit(tx, {
    ...{ actor, action: "prices.delete", targetKind: "price_list", targetId: name },
    ...{ fields: ["rules"], changes },
  });
  await tx.touch();
  return { name, rules, deleted: true };
}
