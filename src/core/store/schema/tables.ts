import { accountsTables } from "./accounts.ts";
import { activationsTables, carriersTables } from "./activations.ts";
import { alertsTables } from "./alerts.ts";
import { catalogTables, pricesTables } from "./catalog.ts";
import { chainTables } from "./chains.ts";
import { esimsTables } from "./esims.ts";
import { type Kit, sqliteKit } from "./kit.ts";
import { orderItemsTables } from "./order-items.ts";
import { ordersTables } from "./orders.ts";
import { outboxTables } from "./outbox.ts";
import { partnersTables, sandboxTables } from "./partners.ts";
import { passportsTables, peopleTables } from "./passports.ts";
import { platformTables } from "./platform.ts";
import { suppliersTables } from "./suppliers.ts";
import { supplyTables } from "./supply.ts";
import { travelerMailsTables } from "./traveler-mails.ts";
import { walletTables } from "./wallet.ts";
import { webhooksTables } from "./webhooks.ts";

/** Every table, built with the column types of an engine. */
export function allTables(k: Kit) {
  const partners = partnersTables(k);
  const catalog = catalogTables(k);
  const esims = esimsTables(k, catalog);
  const outbox = outboxTables(k);
  const orders = ordersTables(k, { ...partners, ...catalog });
  return {
    ...platformTables(k),
    ...alertsTables(k),
    ...chainTables(k),
    ...partners,
    ...accountsTables(k, partners),
    ...catalog,
    ...esims,
    ...carriersTables(k),
    ...activationsTables(k, partners),
    ...passportsTables(k, partners),
    ...peopleTables(k),
    ...walletTables(k, partners),
    ...orders,
    ...orderItemsTables(k, orders),
    ...suppliersTables(k, catalog),
    ...pricesTables(k),
    ...supplyTables(k, esims),
    ...travelerMailsTables(k, esims),
    ...sandboxTables(k, partners),
    ...outbox,
    ...webhooksTables(k, { ...partners, ...outbox }),
  };
}

/** Every table, as SQLite has it: the type of record. */
export const sqliteTables = allTables(sqliteKit);

export type Tables = typeof sqliteTables;

export type TableName = keyof Tables;
/** A table's row to be inserted: columns that may be null can be left out. */
export type NewRow<N extends TableName> = Tables[N]["$inferInsert"];
/** A row of a table as it is read. */
export type Row<N extends TableName> = Tables[N]["$inferSelect"];
/** Tables whose rows have an ID of their own. */
export type TableWithId = { [N in TableName]: "id" extends keyof Row<N> ? N : never }[TableName];
