import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { execa } from "execa";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { scopes } from "../src/core/credentials/scopes.ts";
import { problems } from "../src/core/kernel/problem.ts";
import { productTypes } from "../src/core/store/schema/values.ts";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import { named } from "../src/daemon/schemas/common.ts";
import { startServer } from "./support/http.ts";
import { openApiOf, operationsIn, responseOf, schemaChecker } from "./support/openapi.ts";
import { call, startPlatform } from "./support/platform.ts";
import { temporaryDirectory } from "./support/store.ts";

const sample: RoutePlugin = (app) => {
  app.post(
    "/things/:id",
    {
      config: {
        scope: "write:orders",
        problems: ["insufficient_balance"],
        responseHeaders: { 201: ["Location"] },
      },
      schema: {
        operationId: "createThing",
        summary: "Make a thing",
        tags: ["Orders"],
        params: Type.Object({ id: Type.String({ format: "uuid" }) }),
        headers: Type.Object({ "idempotency-key": Type.String() }),
        querystring: Type.Object({ limit: Type.Integer({ minimum: 1, default: 20 }) }),
        body: Type.Optional(
          Type.Object({
            code: Type.String({ pattern: "^\\d+$", errorMessage: "must be digits" }),
            zone: Type.String({ default: "UTC" }),
          }),
        ),
        response: { 201: Type.Object({ id: Type.String() }) },
      },
    },
    async (_request, reply) => reply.code(201).send({ id: "x" }),
  );
};

describe("the OpenAPI document", () => {
  it("of the whole daemon passes the public linter without errors or warnings", { tags: ["slow"] }, async () => {
    const { url } = await startPlatform();
    const file = join(temporaryDirectory(), "openapi.json");
    writeFileSync(file, await (await fetch(`${url}/openapi.json`)).text());
    const lint = await execa("redocly", ["lint", file, "--format=json"], {
      preferLocal: true,
      reject: false,
      env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    });
    const { problems: found } = JSON.parse(lint.stdout);
    expect(
      found.map(({ ruleId, message, location }: Record<string, unknown>) => ({ ruleId, message, location })),
    ).toEqual([]);
    expect(lint.exitCode).toBe(0);
  });

  it("of the whole daemon gives every operation id, summary, tag, security and the common headers", async () => {
    const { url } = await startPlatform();
    const { body: document } = await call(`${url}/openapi.json`);
    expect(document.openapi).toBe("3.1.0");
    const flow = document.components.securitySchemes.oauth2.flows.clientCredentials;
    expect(Object.keys(flow.scopes).sort()).toEqual([...scopes].sort());
    expect(flow.tokenUrl).toMatch(/\/api\/v1\/oauth\/token$/);
    const chapters = document.tags.map(({ name }: { name: string }) => name);
    for (const [path, operations] of Object.entries<Record<string, Record<string, never>>>(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const where = `${method} ${path}`;
        expect(operation, where).toMatchObject({
          operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
          summary: expect.any(String),
          description: expect.any(String),
          tags: [expect.any(String)],
          security: expect.any(Array),
        });
        // Carriers and suppliers sign what they call back with; they have no token.
        const signed = path.startsWith("/api/v1/callbacks/");
        if (path.startsWith("/api/v1/") && !path.endsWith("/oauth/token") && !signed) {
          const needed = path.startsWith("/api/v1/credentials") ? [...scopes] : [expect.any(String)];
          expect(operation.security, where).toEqual([{ oauth2: needed }]);
          expect(Object.keys(operation.responses ?? {}), where).toEqual(expect.arrayContaining(["401", "403", "429"]));
        }
        expect(JSON.stringify(operation), where).not.toMatch(/"x-|errorMessage/);
        expect(chapters, where).toEqual(expect.arrayContaining(operation.tags ?? ["none"]));
      }
    }
  });

  it("describes the parameters, bodies and refusals of a route", async () => {
    const { url } = await startServer({ routes: [sample] });
    const { body: document } = await call(`${url}/openapi.json`);
    const operation = document.paths["/things/{id}"].post;
    expect(operation.security).toEqual([{ oauth2: ["write:orders"] }]);
    expect(
      operation.parameters.map(({ in: at, name, required }: Record<string, unknown>) => [at, name, required]),
    ).toEqual(
      expect.arrayContaining([
        ["path", "id", true],
        ["query", "limit", false],
        ["header", "Idempotency-Key", true],
      ]),
    );
    expect(operation.requestBody.required).toBe(false);
    expect(operation.requestBody.content["application/json"].schema.required).toEqual(["code"]);
    expect(Object.keys(operation.responses)).toEqual([
      "201",
      "400",
      "401",
      "402",
      "403",
      "413",
      "415",
      "429",
      "500",
      "503",
    ]);
    expect(Object.keys(operation.responses["201"].headers).sort()).toEqual([
      "Location",
      "X-RateLimit-Limit",
      "X-RateLimit-Remaining",
      "X-RateLimit-Reset",
      "X-Request-Id",
    ]);
    const refusal = document.components.responses[operation.responses["402"].$ref.split("/").at(-1)];
    expect(refusal.content["application/problem+json"]).toEqual({
      schema: { $ref: "#/components/schemas/InsufficientBalanceProblem" },
      examples: { insufficient_balance: { $ref: "#/components/examples/insufficient_balance" } },
    });
    const limited = document.components.responses[operation.responses["429"].$ref.split("/").at(-1)];
    expect(limited.headers).toHaveProperty("Retry-After");
    expect(document.components.examples.insufficient_balance.value).toMatchObject({
      status: 402,
      required_cents: 2500,
    });
  });
});

describe("the document for client generators", () => {
  it("is a named schema for every body, with an example that the schema allows", async () => {
    const document = await openApiOf(await startPlatform());
    const check = schemaChecker(document);
    for (const operation of operationsIn(document)) {
      const bodies = Object.entries(operation.requestBody?.content ?? {});
      for (const status of Object.keys(operation.responses)) {
        bodies.push(...Object.entries(responseOf(document, operation, status)?.content ?? {}));
      }
      for (const [type, { schema, example, examples = {} }] of bodies) {
        if (!type.includes("json")) continue;
        const where = `${operation.operationId} ${type} ${JSON.stringify(schema)}`;
        const options: object[] = Reflect.get(schema, "anyOf") ?? [schema];
        for (const option of options) expect(option, where).toEqual({ $ref: expect.any(String) });
        const values = Object.values(examples).map(({ $ref }) => document.components.examples[nameIn($ref)]?.value);
        if (values.length === 0) values.push(example);
        for (const value of values) {
          expect(value, where).toBeTypeOf("object");
          expect(check(schema, value), `${where}: ${JSON.stringify(value)}`).toEqual([]);
        }
      }
    }
    const taken = new Set(operationsIn(document).map(({ summary }) => summary));
    expect(taken.size, "no summary is there twice").toBe(operationsIn(document).length);
  });

  it("is an enum for every status and kind", async () => {
    const document = await openApiOf(await startPlatform());
    const open: string[] = [];
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      for (const [field, shape] of Object.entries<Record<string, unknown>>(Object(schema).properties ?? {})) {
        const isKind = /(^|_)(status|mode|environment|event|outcome|product_type|delivery_method)$/.test(field);
        const listed = shape.enum ?? shape.const ?? shape.$ref;
        if (isKind && listed === undefined) open.push(`${name}.${field}`);
      }
    }
    // The status of a problem is that of HTTP; Shopify's product_type is free text.
    expect(open).toEqual(["Problem.status", "ShopifyItem.product_type"]);
  });

  it("may send null wherever a field may be left out", async () => {
    const document = await openApiOf(await startPlatform());
    const check = schemaChecker(document);
    const order = { line_items: [{ product_id: crypto.randomUUID(), quantity: 1 }], metadata: null };
    const $ref = "#/components/schemas/NewOrder";
    expect(check({ $ref }, { ...order, activation_requests: null })).toEqual([]);
    expect(check({ $ref }, { ...order, line_items: null })).not.toEqual([]);
    expect(check({ $ref: "#/components/schemas/TokenRequest" }, { scope: null })).not.toEqual([]);
  });

  it("discriminates lines of an order by product_type", async () => {
    const { components } = await openApiOf(await startPlatform());
    const { oneOf, discriminator } = Object(components.schemas.DeliveredLine);
    expect(discriminator.propertyName).toBe("product_type");
    expect(Object.keys(discriminator.mapping).sort()).toEqual([...productTypes].sort());
    expect(oneOf.map(({ $ref }: { $ref: string }) => $ref).sort()).toEqual(Object.values(discriminator.mapping).sort());
  });

  it("refuses two schemas of one name", async () => {
    const twice: RoutePlugin = (app) => {
      for (const [path, schema] of Object.entries({ a: Type.String(), b: Type.Integer() })) {
        const response = { 200: Type.Object({ value: schema }, named("Thing")) };
        app.get(`/${path}`, { config: { public: true }, schema: { operationId: path, response } }, async () => {});
      }
    };
    const { app } = await startServer({ routes: [twice] });
    expect((await app.inject("/openapi.json")).statusCode).toBe(500);
  });
});

function nameIn(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

describe("pages", () => {
  it("draw the reference without resources of another host", async () => {
    const { url } = await startServer({ routes: [sample] });
    const page = await call(`${url}/docs`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    for (const directive of ["default-src 'none'", "script-src 'self'", "connect-src 'self'"]) {
      expect(policy.split(";")).toContain(directive);
    }
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    const addresses = [...String(page.body).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    const pages = ["/docs", "/docs/api", "/docs/webhooks", "/docs/states", "/docs/errors"];
    expect(addresses).toEqual(["data:,", ...pages, "/docs/reference.js", "/docs/start.js"]);
    const start = await call(`${url}/docs/start.js`);
    expect(start.body).toMatch(/"url":"\/openapi\.json"/);
    expect(start.body).not.toMatch(/https?:/);
  });

  it("forbid scripts and frames, without headers on other responses", async () => {
    const { url } = await startServer({ routes: [sample] });
    const page = await call(`${url}/docs/errors`);
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none';style-src 'unsafe-inline';/);
    expect(page.headers.get("content-security-policy")).toMatch(/frame-ancestors 'none'/);
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const answer = await call(`${url}/openapi.json`);
    expect(answer.headers.get("content-security-policy")).toBeNull();
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("strict-transport-security"), "its public address is https").toBe("max-age=31536000");
  });

  it("serve the reference's script compressed, with an ETag", async () => {
    const { app } = await startServer();
    const script = await app.inject("/docs/reference.js");
    expect(script.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(script.rawPayload).toString()).toContain("createApiReference");
    const { etag } = script.headers;
    const again = await app.inject({ url: "/docs/reference.js", headers: { "if-none-match": String(etag) } });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  });

  it("exist at the address of every type of problem", async () => {
    const { url } = await startServer({ routes: [sample] });
    const index = String((await call(`${url}/docs/errors`)).body);
    for (const [slug, { title, status }] of Object.entries(problems)) {
      expect(index).toContain(`href="/docs/errors/${slug}"`);
      const page = await call(`${url}/docs/errors/${slug}`);
      expect(page.status, slug).toBe(200);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(page.body).toContain(`<h1>${title}</h1>`);
      expect(page.body).toContain(`HTTP status ${status}`);
      expect(page.body, "scripts").not.toMatch(/<script/i);
    }
    expect((await call(`${url}/docs/errors/%3Cscript%3E`)).status).toBe(404);
  });
});
