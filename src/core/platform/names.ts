import Database from "better-sqlite3";
import type { Environment } from "../kernel/environment.ts";

/** Kinds of things that people name on a command line. */
export type Naming = "partners" | "credentials" | "products" | "orders" | "webhooks" | "carriers" | "suppliers";

/** A name, and what shows a person which one it is. */
export interface Named {
  value: string;
  help: string;
}

/** Whose orders and endpoints are meant; null: everybody's. */
export interface Owner {
  slug: string;
  environment: Environment;
}

/** A Tab press does not wait for a writer to finish (ms). */
const BUSY_TIMEOUT_MS = 200;

const queries: Readonly<Record<Naming, string>> = {
  partners: "SELECT slug AS value, name AS help FROM partners ORDER BY slug LIMIT 500",
  credentials: `SELECT client_id AS value, coalesce(label, '') AS help FROM credentials
    WHERE revoked_at IS NULL ORDER BY created_at DESC LIMIT 50`,
  products: "SELECT sku AS value, name AS help FROM products ORDER BY sku LIMIT 500",
  carriers: "SELECT prefix AS value, name AS help FROM carriers ORDER BY prefix LIMIT 500",
  suppliers: "SELECT name AS value, adapter AS help FROM suppliers ORDER BY name LIMIT 500",
  orders: "SELECT order_number AS value, status || ', ' || product_sku AS help FROM orders",
  webhooks: "SELECT id AS value, url AS help FROM webhook_endpoints",
};

const NEWEST = "ORDER BY id DESC LIMIT 50";
const OWN = `WHERE partner_id = (SELECT id FROM partners WHERE slug = @slug) AND environment = @environment
    ORDER BY created_at DESC, id DESC LIMIT 50`;

/** There are many of these, each with an owner. */
const owned: readonly Naming[] = ["orders", "webhooks"];

/**
 * Names in a SQLite database as completion offers them, of what many there are the newest: by one query on a connection
 * that can only read, without opening the store. Throws what the driver says.
 */
export function namesIn(file: string, naming: Naming, owner: Owner | null): Named[] {
  const connection = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const query = owned.includes(naming) ? `${queries[naming]} ${owner === null ? NEWEST : OWN}` : queries[naming];
    const rows = connection.prepare(query).all(owned.includes(naming) && owner !== null ? { ...owner } : {});
    // better-sqlite3 types rows as unknown; the queries above name these two columns.
    return rows as Named[];
  } finally {
    connection.close();
  }
}
