import { expect, test } from "vitest";
import { addProducts } from "./support/catalog.ts";
import { call, type Platform, startPlatform } from "./support/platform.ts";

interface Listed {
  path: string;
  names: string[];
}

/** Every route with query parameters and none in its path, from the served document. */
async function listRoutes(platform: Platform): Promise<Listed[]> {
  const { body } = await call(`${platform.url}/openapi.json`);
  return Object.entries<{ get?: { parameters?: { name: string; in: string }[] } }>(body.paths).flatMap(
    ([path, { get }]) => {
      const names = (get?.parameters ?? []).filter((each) => each.in === "query").map(({ name }) => name);
      return names.length > 0 && !path.includes("{") ? [{ path, names }] : [];
    },
  );
}

test("an empty query value counts as absent, on every list route and for every parameter", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller({ agent: true });
  const routes = await listRoutes(platform);
  expect(routes.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      "/api/v1/products",
      "/api/v1/catalog/sync",
      "/api/v1/inventory/status",
      "/api/v1/orders",
      "/api/v1/activations",
      "/api/v1/kyc/passports",
      "/api/v1/webhooks",
    ]),
  );
  for (const { path, names } of routes) {
    const plain = await caller.get(path);
    expect(plain.status, path).toBe(200);
    for (const some of [...names.map((name) => [name]), names]) {
      for (const write of [(name: string) => `${name}=`, (name: string) => name, (name: string) => `${name}=%20`]) {
        const query = some.map(write).join("&");
        const { status, body } = await caller.get(`${path}?${query}`);
        expect([status, body], `${path}?${query}`).toEqual([200, plain.body]);
      }
    }
  }
  const { body } = await caller.get("/api/v1/products?limit=&limit=1&limit=");
  expect(body.pagination.count, "the one that is not empty counts").toBe(1);
  expect((await caller.get("/api/v1/orders?limit=1&limit=2")).body.errors).toEqual({
    limit: ["must be given only once"],
  });
});
