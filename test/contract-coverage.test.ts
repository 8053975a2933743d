import { expect, test } from "vitest";
import { iccid, request, requestB } from "./support/activations.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { scenarios, stageProducts } from "./support/contract-scenarios.ts";
import { anyone, genericScenarios, key } from "./support/generic-scenarios.ts";
import { openApiOf, responseChecker, schemaChecker } from "./support/openapi.ts";
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

/** Every operation of the served document, with its statuses. */
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

test("every operation of the v1 API returns each status that it documents, in the documented shape", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, stageProducts);
  const operations = (await operationsOf(platform)).filter((operation) => operation.path.startsWith("/api/v1/"));
  expect(operations.length).toBeGreaterThan(30);
  const check = responseChecker(await openApiOf(platform));
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
      expect(check(operation.id, answered), `${name}: ${JSON.stringify(answered.body).slice(0, 300)}`).toEqual([]);
    }
  }
  expect(missing, "documented, but no scenario shows it").toEqual([]);
});

test("a problem with extra members has those that its schema names", async () => {
  const platform = await startPlatform();
  const check = schemaChecker(await openApiOf(platform));
  const { EU5 = "" } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await anyone(platform, { live: true });
  const order = { line_items: [{ product_id: EU5, quantity: 1 }] };
  const submit = (body: object) => caller.send("POST", "/api/v1/activations", body);
  const sim = iccid();
  const { body: pending } = await submit(request({ iccid: sim }));
  await caller.send("POST", `/api/v1/activations/${pending.id}/cancel`);
  await submit(request({ iccid: sim }));
  const gone = `/api/v1/activations/${pending.id}`;
  const replies = {
    ValidationProblem: caller.send("POST", "/api/v1/orders", {}, key()),
    InsufficientBalanceProblem: caller.send("POST", "/api/v1/orders", order, key()),
    MissingKycProblem: submit(requestB({ title: "" })),
    CarrierNotSupportedProblem: submit(request({ iccid: "8944100000000000998" })),
    DateConflictProblem: submit(request({ iccid: sim, activation_date: "2026-03-11" })),
    NotEditableProblem: caller.send("PATCH", gone, { note: "late" }),
    NotCancellableProblem: caller.send("POST", `${gone}/cancel`),
  };
  for (const [name, reply] of Object.entries(replies)) {
    const { body } = await reply;
    expect(check({ $ref: `#/components/schemas/${name}` }, body), `${name}: ${JSON.stringify(body)}`).toEqual([]);
  }
});

test("the delivery of each product type matches its schema, before and after fulfillment", async () => {
  const platform = await startPlatform();
  const check = responseChecker(await openApiOf(platform));
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 100 },
    { sku: "SIM", price_cents: 100, product_type: "physical_sim", delivery_method: "shipping" },
    ...suppliedProducts,
  ]);
  const line_items = Object.values(products).map((product_id) => ({ product_id, quantity: 1 }));
  const who = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-12-24" };
  const activation_requests = [
    { product_id: products.MAIL, ...who },
    { product_id: products.PUSH, ...who, eid_number: "89049032000000000000000000000024" },
  ];
  for (const live of [true, false]) {
    const caller = await anyone(platform, { live });
    await platform.fund(caller.partnerId, 100_000);
    const { body } = await caller.send("POST", "/api/v1/orders", { line_items, activation_requests }, key());
    const before = await caller.get(`/api/v1/orders/${body.id}`);
    expect(before.body.line_items).toHaveLength(5);
    expect(check("getOrder", before)).toEqual([]);
    await platform.fulfill();
    const after = await caller.get(`/api/v1/orders/${body.id}`);
    expect(check("getOrder", after), JSON.stringify(after.body)).toEqual([]);
    const followed = await caller.get(`/api/v1/orders/${body.id}/activation-status`);
    expect(check("getOrderActivationStatus", followed)).toEqual([]);
  }
});

test("the catalog of each format matches its schema", async () => {
  const platform = await startPlatform();
  const check = responseChecker(await openApiOf(platform));
  await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await anyone(platform);
  for (const format of ["generic", "platform_a", "platform_b"]) {
    const reply = await caller.get(`/api/v1/catalog/sync?format=${format}`);
    expect(check("syncCatalog", reply), JSON.stringify(reply.body)).toEqual([]);
  }
});
