import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import { startServer } from "./support/http.ts";
import { property } from "./support/rounds.ts";

const ID = "0199a0b1-0000-7000-8000-000000000001";

const Order = Type.Object({
  line_items: Type.Array(
    Type.Object({
      product_id: Type.String({ format: "uuid" }),
      quantity: Type.Integer({ minimum: 1, maximum: 10_000 }),
    }),
    { minItems: 1, maxItems: 50 },
  ),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  email: Type.Optional(Type.String({ format: "email" })),
  date: Type.Optional(Type.String({ format: "date" })),
  at: Type.Optional(Type.String({ format: "date-time" })),
  url: Type.Optional(Type.String({ format: "uri" })),
  status: Type.Optional(Type.Enum(["active", "inactive", "out_of_stock"])),
  kind: Type.Optional(Type.Union([Type.Literal("esim"), Type.Literal("sim")])),
  iccid: Type.Optional(Type.String({ pattern: "^\\d{13,20}$", errorMessage: "must be 13-20 digits" })),
  eid: Type.Optional(Type.String({ minLength: 32, maxLength: 32 })),
  price: Type.Optional(Type.Number({ minimum: 0 })),
  confirm: Type.Optional(Type.Boolean()),
  timezone: Type.String({ default: "UTC", maxLength: 50 }),
  tags: Type.Optional(Type.Array(Type.String(), { uniqueItems: true, maxItems: 2 })),
  note: Type.Optional(Type.Union([Type.String({ maxLength: 10 }), Type.Null()])),
  reason: Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 10 })),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

const Query = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  markup: Type.Optional(Type.Number()),
  exact: Type.Optional(Type.Boolean()),
  region: Type.Optional(Type.String({ maxLength: 20 })),
  status: Type.Optional(Type.Enum(["active", "inactive"])),
});

const routes: RoutePlugin = (app) => {
  const config = { public: true };
  app.post("/orders", { config, schema: { body: Order } }, async ({ body, rawPayload }) => ({ body, rawPayload }));
  app.patch("/orders", { config, schema: { body: Order } }, async ({ body }) => body);
  app.get("/things", { config, schema: { querystring: Query } }, async ({ query }) => query);
  app.get(
    "/things/:id/:number",
    { config, schema: { params: Type.Object({ id: Type.String({ format: "uuid" }), number: Type.Integer() }) } },
    async ({ params }) => params,
  );
  app.post(
    "/keyed",
    { config, schema: { headers: Type.Object({ "idempotency-key": Type.String({ maxLength: 5 }) }) } },
    async ({ headers }) => ({ key: headers["idempotency-key"], agent: headers["user-agent"] }),
  );
};

const plain = { line_items: [{ product_id: ID, quantity: 1 }], name: "Ada" };

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  body: any;
}

async function server() {
  const { url } = await startServer({ routes: [routes] });
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + path, init);
    return { status: response.status, body: await response.json() };
  };
  const text = (body: string) =>
    send("/orders", { method: "POST", headers: { "content-type": "application/json" }, body });
  return { send, text, post: (body: unknown) => text(JSON.stringify(body)) };
}

describe("faults of fields are reported", () => {
  it.each<[string, Record<string, unknown>, Record<string, string[]>]>([
    ["missing", { name: undefined }, { name: ["is required"] }],
    ["null where one is needed", { name: null }, { name: ["is required"] }],
    ["empty after the trim", { name: " \t " }, { name: ["is required"] }],
    ["a number for a string", { name: 5 }, { name: ["must be a string"] }],
    ["too long", { name: "x".repeat(101) }, { name: ["must be at most 100 characters"] }],
    ["too long by code points only", { name: "🚀".repeat(101) }, { name: ["must be at most 100 characters"] }],
    ["of another length", { eid: "1" }, { eid: ["must be exactly 32 characters"] }],
    ["no e-mail address", { email: "ada@" }, { email: ["must be an e-mail address"] }],
    ["no date", { date: "2026-02-30" }, { date: ["must be a real date as YYYY-MM-DD"] }],
    ["no time", { at: "yesterday" }, { at: ["must be a time as 2026-03-01T09:30:00Z"] }],
    ["no address", { url: "example" }, { url: ["must be an absolute address such as https://example.com/path"] }],
    ["none of a list", { status: "sold" }, { status: ["must be one of active, inactive, out_of_stock"] }],
    ["none of a list, nor a string", { status: 1 }, { status: ["must be one of active, inactive, out_of_stock"] }],
    ["none of some literals", { kind: "x" }, { kind: ["must be one of esim, sim"] }],
    ["against its own sentence", { iccid: "12" }, { iccid: ["must be 13-20 digits"] }],
    ["of a wrong type with its own sentence", { iccid: 12 }, { iccid: ["must be 13-20 digits"] }],
    ["below the least", { price: -1 }, { price: ["must be at least 0"] }],
    ["text for a number", { price: "1" }, { price: ["must be a number"] }],
    ["text for a truth value", { confirm: "true" }, { confirm: ["must be true or false"] }],
    ["an object for a list", { tags: {} }, { tags: ["must be a list"] }],
    ["a list for an object", { metadata: [] }, { metadata: ["must be an object"] }],
    ["twice in a list", { tags: ["a", " a"] }, { tags: ["must not list the same item twice"] }],
    ["too many", { tags: ["a", "b", "c"] }, { tags: ["must have at most 2 items"] }],
    ["none where one is needed", { line_items: [] }, { line_items: ["must have between 1 and 50 items"] }],
    ["too long where null is allowed", { note: "x".repeat(11) }, { note: ["must be at most 10 characters"] }],
    ["of a wrong type where null is allowed", { note: 5 }, { note: ["must be a string or null"] }],
    ["too long, by a list of types", { reason: "x".repeat(11) }, { reason: ["must be at most 10 characters"] }],
    ["of a wrong type, by a list of types", { reason: {} }, { reason: ["must be a string or null"] }],
  ])("%s", async (_what, change, errors) => {
    const { post } = await server();
    const { status, body } = await post({ ...plain, ...change });
    expect({ status, type: body.type, errors: body.errors }).toEqual({
      status: 400,
      type: "https://esim.example/docs/errors/validation",
      errors,
    });
    const [field, [sentence] = []] = Object.entries(errors)[0] ?? [];
    expect(body.detail).toBe(`${field} ${sentence}.`);
  });

  it("by path in lists, all of them at once", async () => {
    const { post } = await server();
    const line_items = [{ product_id: "x", quantity: 0 }, 5, { quantity: 1.5 }, { product_id: ID, quantity: "3" }];
    const { body } = await post({ line_items, name: 1, email: "x" });
    expect(body.errors).toEqual({
      "line_items.0.product_id": ["must be a UUID"],
      "line_items.0.quantity": ["must be between 1 and 10000"],
      "line_items.1": ["must be an object"],
      "line_items.2.product_id": ["is required"],
      "line_items.2.quantity": ["must be a whole number"],
      "line_items.3.quantity": ["must be a whole number"],
      name: ["must be a string"],
      email: ["must be an e-mail address"],
    });
  });

  it("for hundreds of invalid fields too, bounded for a million items", async () => {
    const { post } = await server();
    const all = await post({ ...plain, line_items: Array(50).fill({ product_id: "x", quantity: 0 }) });
    expect(Object.keys(all.body.errors)).toHaveLength(100);
    const flood = await post({ ...plain, line_items: Array(250_000).fill(1) });
    expect(flood.body.errors.line_items).toEqual(["must have between 1 and 50 items"]);
    expect(Object.keys(flood.body.errors).length).toBeLessThan(60);
  });
});

describe("bodies", () => {
  it("are trimmed where a string is declared, and kept as sent beside it", async () => {
    const { post } = await server();
    const sent = {
      ...plain,
      line_items: [{ product_id: ` ${ID.toUpperCase()} `, quantity: 2, gift: true }],
      name: "  Ada Lovelace\n",
      status: " active ",
      kind: "esim ",
      note: null,
      reason: " x ",
      email: null,
      confirm: null,
      metadata: { " key ": "  as it is  ", none: null },
      unknown: " ignored ",
    };
    const { status, body } = await post(sent);
    expect(status).toBe(200);
    expect(body.rawPayload).toEqual(sent);
    expect(body.body).toEqual({
      line_items: [{ product_id: ID, quantity: 2 }],
      name: "Ada Lovelace",
      status: "active",
      kind: "esim",
      note: null,
      reason: "x",
      timezone: "UTC",
      metadata: { " key ": "  as it is  ", none: null },
    });
  });

  it("of a PATCH clear with null what can be cleared, and are refused for the rest", async () => {
    const { send } = await server();
    const patch = (body: unknown) =>
      send("/orders", {
        method: "PATCH",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...plain, ...Object(body) }),
      });
    expect((await patch({ note: null, reason: null })).body).toMatchObject({ note: null, reason: null });
    const { status, body } = await patch({ note: null, email: null, name: null, price: -1 });
    expect([status, body.errors]).toEqual([
      400,
      { email: ["cannot be cleared"], name: ["cannot be cleared"], price: ["must be at least 0"] },
    ]);
  });

  it("may have names that are special in JavaScript, without any effect", async () => {
    const { text } = await server();
    const more = '"constructor":{"x":1},"toString":"y","hasOwnProperty":1,"metadata":{"constructor":"z"}';
    const { status, body } = await text(`{"line_items":[{"product_id":"${ID}","quantity":1}],"name":"Ada",${more}}`);
    expect(status).toBe(200);
    expect(body.body.metadata).toEqual({ constructor: "z" });
    expect(Object.keys(body.body)).not.toContain("toString");
    const missing = await text('{"line_items":[],"toString":1}');
    expect(missing.body.errors.name).toEqual(["is required"]);
  });

  it.each([
    ["NUL in a field", '{"name":"a\\u0000b"}', { name: ["must not contain a NUL character"] }],
    ["NUL deep in a free object", '{"metadata":{"a":[{"b":"\\u0000"}]}}', { "metadata.a.0.b": [expect.any(String)] }],
    ["half a surrogate pair", '{"name":"\\ud83d"}', { name: [expect.stringContaining("surrogate")] }],
    ["the other half", '{"unknown":"\\ude80 x"}', { unknown: [expect.stringContaining("surrogate")] }],
    ["NUL in a field's name", '{"metadata":{"a\\u0000":1}}', { "metadata.(field name)": [expect.any(String)] }],
    ["half a pair in a field's name", '{"\\ud83d":1}', { "(field name)": [expect.any(String)] }],
  ])("may not carry %s", async (_what, sent, errors) => {
    const { text } = await server();
    const { status, body } = await text(sent);
    expect([status, body.type, body.errors]).toEqual([400, "https://esim.example/docs/errors/validation", errors]);
  });

  it("name at most 50 broken texts, however many one list or object holds", async () => {
    const { post } = await server();
    const list = await post({ unknown: Array(20_000).fill("a\0") });
    expect(Object.keys(list.body.errors)).toEqual(Array.from({ length: 50 }, (_, index) => `unknown.${index}`));
    const fields = await post(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, "\0"])));
    expect(Object.keys(fields.body.errors)).toEqual(Array.from({ length: 50 }, (_, index) => `f${index}`));
  });

  property("of any JSON are answered with 200 or 400, never with a 500", { few: 30, many: 150 }, async (numRuns) => {
    const { text } = await server();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.json(), fc.record({ ...recordOf(plain), metadata: fc.jsonValue() }).map(write)),
        async (sent) => {
          const { status } = await text(sent);
          expect([200, 400]).toContain(status);
        },
      ),
      { numRuns },
    );
  });
});

const write = (value: unknown) => JSON.stringify(value);

function recordOf(value: Record<string, unknown>): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, fc.oneof(fc.constant(each), fc.jsonValue())]),
  );
}

describe("query strings and paths", () => {
  it("are parsed as numbers and booleans", async () => {
    const { send } = await server();
    expect((await send("/things")).body).toEqual({ limit: 20 });
    expect((await send("/things?limit=7&markup=-2.5&exact=true&region=%20Asia%20&other=1")).body).toEqual({
      limit: 7,
      markup: -2.5,
      exact: true,
      region: "Asia",
    });
    expect((await send(`/things/${ID.toUpperCase()}/42`)).body).toEqual({ id: ID, number: 42 });
  });

  it("count as absent where they are empty", async () => {
    const { send } = await server();
    expect((await send("/things?limit=&markup=%20&exact=&status=&region=")).body).toEqual({ limit: 20 });
  });

  it.each([
    ["limit=ten", { limit: ["must be a whole number"] }],
    ["limit=1e2", { limit: ["must be a whole number"] }],
    ["limit=0x10", { limit: ["must be a whole number"] }],
    ["limit=1.5", { limit: ["must be a whole number"] }],
    ["limit=0", { limit: ["must be between 1 and 100"] }],
    ["limit=99999999999999999999", { limit: ["must be between 1 and 100"] }],
    ["limit=1&limit=2", { limit: ["must be given only once"] }],
    ["markup=NaN", { markup: ["must be a number"] }],
    ["exact=yes", { exact: ["must be true or false"] }],
    ["status=sold", { status: ["must be one of active, inactive"] }],
    ["status=active&status=active", { status: ["must be given only once"] }],
    ["region=a%00b", { region: ["must not contain a NUL character"] }],
    [
      "region=xxxxxxxxxxxxxxxxxxxxx&limit=0",
      { limit: [expect.any(String)], region: ["must be at most 20 characters"] },
    ],
  ])("are refused: ?%s", async (query, errors) => {
    const { send } = await server();
    const { status, body } = await send(`/things?${query}`);
    expect([status, body.errors]).toEqual([400, errors]);
  });

  it("name the invalid part of a path", async () => {
    const { send } = await server();
    const { status, body } = await send("/things/abc/x1");
    expect([status, body.errors]).toEqual([400, { id: ["must be a UUID"], number: ["must be a whole number"] }]);
    expect((await send(`/things/${"x".repeat(5_000)}/1`)).status).toBe(400);
    expect((await send(`/things/${ID}/%00`)).status).toBe(400);
  });
});

describe("headers", () => {
  it("are checked by name in any case, and none is lost", async () => {
    const { send } = await server();
    const post = (headers: Record<string, string>) => send("/keyed", { method: "POST", headers });
    expect((await post({ "Idempotency-Key": "k1", "User-Agent": "test" })).body).toEqual({ key: "k1", agent: "test" });
    expect((await post({})).body).toMatchObject({
      status: 400,
      detail: "Idempotency-Key is required.",
      errors: { "Idempotency-Key": ["is required"] },
    });
    expect((await post({ "idempotency-key": "123456" })).body.errors).toEqual({
      "Idempotency-Key": ["must be at most 5 characters"],
    });
  });
});
