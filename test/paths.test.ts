import { expect, test } from "vitest";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";

/** Every path of the served document with its one parameter left empty: /products/ and /orders//esims. */
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

test("a path with an empty id is unknown, with and without a token", async () => {
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
  for (const path of [
    "/qr/.png",
    "/qr/.svg",
    "/install/",
    "/media/products/.svg",
    "/media/products/.png",
    "/docs/errors/",
  ]) {
    expect((await call(platform.url + path)).status, path).toBe(404);
  }
  expect((await call(`${platform.url}/api/v1/products/`, { method: "PUT" })).status).toBe(404);
});

test("a server under a path prefix has its well-known documents at both forms of their address", async () => {
  const platform = await startPlatform({ publicUrl: "http://esim.test/base/path" });
  for (const name of ["oauth-authorization-server", "jwks.json"]) {
    const plain = await call(`${platform.url}/.well-known/${name}`);
    const inserted = await call(`${platform.url}/.well-known/${name}/base/path`);
    expect([plain.status, inserted.status, inserted.body], name).toEqual([200, 200, plain.body]);
    expect((await call(`${platform.url}/.well-known/${name}/other`)).status).toBe(404);
  }
  const { body } = await call(`${platform.url}/.well-known/oauth-authorization-server/base/path`);
  expect(body).toMatchObject({
    issuer: "http://esim.test/base/path",
    jwks_uri: "http://esim.test/base/path/.well-known/jwks.json",
  });
  const wrong = await call(`${platform.url}/.well-known/jwks.json/base/path`, { method: "POST" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  const described = Object.keys((await call(`${platform.url}/openapi.json`)).body.paths);
  expect(described.filter((path) => path.endsWith("/base/path"))).toEqual([]);
});
