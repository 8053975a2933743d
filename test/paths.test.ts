import { expect, test } from "vitest";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";

/** Every path of our own document with its one parameter left empty: /products/ and /orders//esims. */
async function emptied(platform: Platform): Promise<{ method: string; path: string }[]> {
  const { body } = await call(`${platform.url}/openapi.json`);
  return Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    path.includes("{") && !path.includes("{token}.")
      ? Object.keys(methods).map((method) => ({
          method: method.toUpperCase(),
          path: path.replaceAll(/\{\w+\}/g, ""),
        }))
      : [],
  );
}

test("a path with nothing where an id belongs is unknown, with a token and without", async () => {
  const platform = await startPlatform();
  const caller: Caller = await platform.caller({ agent: true });
  const paths = await emptied(platform);
  expect(paths.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["/api/v1/products/", "/api/v1/orders/", "/api/v1/orders//esims", "/api/v1/webhooks/"]),
  );
  for (const { method, path } of paths) {
    const known = await caller.send(method, path);
    const unknown = await call(platform.url + path, { method });
    const slugs = [known, unknown].map(({ status, body }) => [status, body.type, body.instance]);
    const expected = [404, "http://esim.test/docs/errors/not_found", path];
    expect(slugs, `${method} ${path}`).toEqual([expected, expected]);
  }
  for (const path of ["/qr/.png", "/qr/.svg", "/install/", "/media/products/.svg", "/docs/errors/"]) {
    expect((await call(platform.url + path)).status, path).toBe(404);
  }
  expect((await call(`${platform.url}/api/v1/products/`, { method: "PUT" })).status).toBe(404);
});
