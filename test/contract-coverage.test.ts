import { expect, test } from "vitest";
import { addProducts } from "./support/catalog.ts";
import { scenarios } from "./support/contract-scenarios.ts";
import { genericScenarios } from "./support/generic-scenarios.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { onPostgres } from "./support/store.ts";

interface Operation {
  id: string;
  method: string;
  path: string;
  scope: string | null;
  hasBody: boolean;
  statuses: number[];
}

/** Every operation that our own document describes, with the statuses it promises. */
async function operationsOf(platform: Platform): Promise<Operation[]> {
  const document = Object(await (await fetch(`${platform.url}/openapi.json`)).json());
  const paths: Record<string, object> = document.paths;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const { operationId, responses, security, requestBody } = Object(described);
      const [scope = null] = Object.values(Object(security?.[0])).flat() as string[]; // OpenAPI lists scopes as texts
      // A server can refuse its connections, a file cannot: 503 is shown on PostgreSQL.
      const statuses = Object.keys(responses)
        .map(Number)
        .filter((status) => status !== 503 || onPostgres);
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        scope,
        hasBody: requestBody !== undefined,
        statuses,
      };
    }),
  );
}

/** The endpoints of the contract. */
const CONTRACT = `
POST /api/v1/oauth/token
GET /api/v1/products
GET /api/v1/products/{id}
GET /api/v1/inventory/status
GET /api/v1/catalog/sync
POST /api/v1/orders
GET /api/v1/orders
GET /api/v1/orders/{id}
GET /api/v1/orders/{id}/esims
GET /api/v1/orders/{id}/activation-status
POST /api/v1/orders/bulk
GET /api/v1/balance
POST /api/v1/activations
GET /api/v1/activations
GET /api/v1/activations/{id}
PATCH /api/v1/activations/{id}
POST /api/v1/activations/{id}/cancel
POST /api/v1/activations/by-iccid/{iccid}/cancel
PATCH /api/v1/activations/by-iccid/{iccid}
POST /api/v1/activations/bulk/cancel
POST /api/v1/activations/bulk/reschedule
POST /api/v1/kyc/passports
GET /api/v1/kyc/passports
PATCH /api/v1/kyc/passports/{id}
DELETE /api/v1/kyc/passports/{id}
GET /api/v1/esims/{iccid}/status
POST /api/v1/webhooks
GET /api/v1/webhooks
GET /api/v1/webhooks/{id}
DELETE /api/v1/webhooks/{id}`
  .trim()
  .split("\n");

test("the document describes every endpoint of the contract", async () => {
  const platform = await startPlatform();
  const described = (await operationsOf(platform)).map(({ method, path }) => `${method} ${path}`);
  expect(described).toEqual(expect.arrayContaining(CONTRACT));
});

test("every operation of the v1 API really answers with each status it documents", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 100 },
    {
      sku: "API",
      price_cents: 100,
      product_type: "esim_qr_api",
      delivery_method: "supplier_api",
      supplier: "northwind",
    },
  ]);
  const operations = (await operationsOf(platform)).filter((operation) => operation.path.startsWith("/api/v1/"));
  expect(operations.length).toBeGreaterThan(30);
  const missing: string[] = [];
  for (const operation of operations) {
    for (const status of operation.statuses) {
      const name = `${operation.id} ${status}`;
      const scenario = scenarios[operation.id]?.[status] ?? genericScenarios[status];
      if (scenario === undefined) {
        missing.push(name);
        continue;
      }
      const answered = await scenario({ platform, operation, products });
      expect(answered.status, `${name}: ${JSON.stringify(answered.body).slice(0, 300)}`).toBe(status);
    }
  }
  expect(missing, "documented, but no scenario shows it").toEqual([]);
}, 120_000);
