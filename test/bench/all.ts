import type { Bench } from "./bench.ts";
import { bulkOrders } from "./bulk-orders.ts";
import { httpReads } from "./http-reads.ts";
import { lists } from "./lists.ts";
import { memory } from "./memory.ts";
import { mix } from "./mix.ts";
import { nodes } from "./nodes.ts";
import { orderCreation } from "./order-creation.ts";
import { pages } from "./pages.ts";
import { passportsImport } from "./passports-import.ts";
import { size } from "./size.ts";
import { slowDisk } from "./slow-disk.ts";
import { startUp } from "./start-up.ts";
import { tokens } from "./tokens.ts";
import { webhooks, webhooksOnPostgres } from "./webhooks.ts";
import { workers } from "./workers.ts";

/** Every bench, in the order of the table. */
export const benches: readonly Bench[] = [
  httpReads,
  tokens,
  orderCreation,
  slowDisk,
  bulkOrders,
  passportsImport,
  lists,
  pages,
  startUp,
  mix,
  memory,
  size,
  workers,
  webhooks,
  webhooksOnPostgres,
  nodes,
];
