import type { Migration } from "./migrations/migration.ts";

/** Columns whose change an order's owner can see in its records; each raises the order's version. */
export const seenColumns = {
  orders: [
    "order_number",
    "partner_id",
    "environment",
    "status",
    "currency",
    "total_cents",
    "refunded_cents",
    "quantity",
    "product_id",
    "product_sku",
    "unit_price_cents",
    "metadata",
    "external_order_id",
    "customer_sealed",
    "created_at",
    "updated_at",
    "first_unit",
    "scenario",
  ],
  order_lines: [
    "order_id",
    "position",
    "product_id",
    "product_name",
    "product_sku",
    "product_type",
    "quantity",
    "unit_price_cents",
    "status",
    "shipping",
  ],
  order_items: ["order_id", "line_id", "position", "traveller_sealed", "status"],
  esims: ["iccid", "eid", "sealed", "order_id", "line_id", "environment"],
} as const;

const RAISE = "UPDATE orders SET version = version + 1 WHERE id";

/** No eSIM of a line shows before the line is fulfilled, so that assigning them raises nothing. */
function shown(...rows: ("OLD" | "NEW")[]): string {
  const lines = rows.map((row) => `${row}.line_id`).join(", ");
  return `EXISTS (SELECT 1 FROM order_lines WHERE id IN (${lines}) AND status = 'fulfilled')`;
}

/** What happens to a row of a table, and what it does to which orders. */
interface Rule {
  name: string;
  event: string;
  when: string | null;
  orders: string;
}

const rules: Rule[] = [
  { name: "order_lines_version", event: changeOf("order_lines"), when: null, orders: "NEW.order_id" },
  { name: "order_items_version", event: changeOf("order_items"), when: null, orders: "NEW.order_id" },
  { name: "esims_version", event: changeOf("esims"), when: shown("OLD", "NEW"), orders: "OLD.order_id, NEW.order_id" },
  { name: "esims_version_insert", event: "INSERT ON esims", when: shown("NEW"), orders: "NEW.order_id" },
  { name: "esims_version_delete", event: "DELETE ON esims", when: shown("OLD"), orders: "OLD.order_id" },
];

function changeOf(table: keyof typeof seenColumns): string {
  return `UPDATE OF ${seenColumns[table].join(", ")} ON ${table}`;
}

function onSqlite({ name, event, when, orders }: Rule): string[] {
  const condition = when === null ? "" : ` WHEN ${when}`;
  return [`CREATE TRIGGER ${name} AFTER ${event}${condition} BEGIN ${RAISE} IN (${orders}); END`];
}

// A condition of PostgreSQL's triggers holds no query: its function asks.
function onPostgres({ name, event, when, orders }: Rule): string[] {
  const raise = `${RAISE} IN (${orders});`;
  const body = when === null ? raise : `IF ${when} THEN ${raise} END IF;`;
  return [
    `CREATE FUNCTION raise_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`,
    `CREATE TRIGGER ${name} AFTER ${event} FOR EACH ROW EXECUTE FUNCTION raise_${name}()`,
  ];
}

/**
 * An order's version rises with each change that its owner can see, whichever program makes it: kept responses are as
 * good as new ones while the version is theirs. The lines and items of an order are inserted with it.
 */
export function orderVersions(engine: "sqlite" | "postgres"): Migration {
  const own = { name: "orders_version", event: changeOf("orders") };
  const statements =
    engine === "sqlite"
      ? [...onSqlite({ ...own, when: null, orders: "NEW.id" }), ...rules.flatMap(onSqlite)]
      : [
          // Before the row is written: a second update of it is saved.
          "CREATE FUNCTION raise_orders_version() RETURNS trigger LANGUAGE plpgsql AS " +
            "$$ BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$",
          `CREATE TRIGGER ${own.name} BEFORE ${own.event} FOR EACH ROW EXECUTE FUNCTION raise_orders_version()`,
          ...rules.flatMap(onPostgres),
        ];
  return { name: "9010_order_versions", statements };
}
