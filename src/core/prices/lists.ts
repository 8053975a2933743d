import { asc, count, isNotNull } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { invalid, notFound, Problem } from "../kernel/problem.ts";
import { findByKey, insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** A price list as the operator's commands print it. */
export interface PriceList {
  name: string;
  /** How many rules it has. */
  rules: number;
  /** The partners that have its prices, by slug. */
  partners: string[];
  created_at: string;
  updated_at: string;
}

/** Whose prices a partner has; null: the catalog's. */
export async function priceListOf(q: Read, id: PartnerId): Promise<string | null> {
  return (await findByKey(q, "partners", { id }))?.price_list ?? null;
}

/** The row of a list. Throws `not_found`. */
export async function requirePriceList(q: Read, name: string): Promise<Row<"priceLists">> {
  const row = await findByKey(q, "priceLists", { name });
  if (row === null) throw notFound("price_list", name);
  return row;
}

const all = statement((db, { priceLists: lists }, _slot) => db.select().from(lists).orderBy(asc(lists.name)));

const having = statement((db, { partners }, _slot) =>
  db
    .select({ slug: partners.slug, price_list: partners.price_list })
    .from(partners)
    .where(isNotNull(partners.price_list))
    .orderBy(asc(partners.slug)),
);

const ruleCounts = statement((db, { priceRules: rules }, _slot) =>
  db.select({ list: rules.list, many: count() }).from(rules).groupBy(rules.list),
);

/** Every price list, by name. */
export async function listPriceLists(q: Read, _input: null): Promise<PriceList[]> {
  const counts = new Map((await ruleCounts(q, {})).map(({ list, many }) => [list, Number(many)]));
  const partners = Map.groupBy(await having(q, {}), ({ price_list }) => price_list);
  return (await all(q, {})).map(({ name, created_at, updated_at }) => ({
    name,
    rules: counts.get(name) ?? 0,
    partners: (partners.get(name) ?? []).map(({ slug }) => slug),
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  }));
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Makes a price list without rules: at first its prices are the catalog's. Throws `validation`, `duplicate`. */
export async function createPriceList(tx: Tx, { name, actor }: { name: string; actor: Actor }): Promise<PriceList> {
  if (!NAME.test(name)) {
    throw invalid({ name: ["must have 1 to 63 letters, digits, dots, underscores and hyphens, e.g. gold-2026"] });
  }
  if (await hasPriceList(tx, name)) {
    throw new Problem("duplicate", `A price list with the name ${name} exists already.`);
  }
  await insert(tx, "priceLists", [{ name, created_at: tx.now, updated_at: tx.now }]);
  await recordAudit(tx, { actor, action: "prices.create", targetKind: "price_list", targetId: name });
  await tx.touch();
  const at = isoTime(tx.now);
  return { name, rules: 0, partners: [], created_at: at, updated_at: at };
}

/** Whether there is a price list with this name. */
export async function hasPriceList(q: Read, name: string): Promise<boolean> {
  return (await findByKey(q, "priceLists", { name })) !== null;
}

/** Makes a price list that is not there yet; whether it did. Throws `validation` for its name. */
export async function ensurePriceList(tx: Tx, list: { name: string; actor: Actor }): Promise<boolean> {
  if (await hasPriceList(tx, list.name)) return false;
  await createPriceList(tx, list);
  return true;
}
