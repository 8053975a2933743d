import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isExact, mayBeInexact } from "../src/daemon/plugins/exact-numbers.ts";
import { addProducts } from "./support/catalog.ts";
import { startPlatform } from "./support/platform.ts";

const INEXACT = [
  "12345678901234567890",
  "-12345678901234567891",
  "9007199254740993",
  "1e400",
  "-1E+400",
  "1e-400",
  "1e99999999999999999999",
  "0.1234567890123456789012",
  "1234567.12345678901",
];
const EXACT = [
  "0",
  "-0",
  "0e400",
  "0.1",
  "-12.50",
  "1e3",
  "1E+2",
  "9007199254740992000e-3",
  "12345678901234567000",
  "0.30000000000000004",
  "100000000000000000000",
  "1.7976931348623157e308",
  "5e-324",
  "0.10000000000000000000000000",
];

async function setUp() {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller();
  const lines = `"line_items":[{"product_id":"${products.EU5}","quantity":1}]`;
  const place = (fields: string, key: string = crypto.randomUUID()) =>
    caller.send("POST", "/api/v1/orders", `{${lines}${fields}}`, { "idempotency-key": key });
  const item = (id: string, fields: string) =>
    `{"external_order_id":"${id}",${lines},"customer":{"email":"mia@example.com","name":"Mia Chen"}${fields}}`;
  const bulk = (...items: string[]) => caller.send("POST", "/api/v1/orders/bulk", `{"orders":[${items.join(",")}]}`);
  return { caller, place, bulk, item };
}

const WORDS = ["must be a number that a double holds exactly; send it as a string"];

test.each(INEXACT)("metadata with the number %s is refused and named, in single and bulk orders", async (number) => {
  const { caller, place, bulk, item } = await setUp();
  const metadata = `,"metadata":{"plain":1.5,"a":[{"b":${number}}, "${number}"], "c" : ${number}}`;
  const single = await place(metadata);
  expect([single.status, single.body.type]).toEqual([400, "http://esim.test/docs/errors/validation"]);
  expect(single.body.errors).toEqual({ "metadata.a.0.b": WORDS, "metadata.c": WORDS });
  const many = await bulk(item("x-1", ""), item("x-2", metadata));
  expect([many.status, many.body.errors]).toEqual([
    400,
    { "orders.1.metadata.a.0.b": WORDS, "orders.1.metadata.c": WORDS },
  ]);
  expect((await caller.get("/api/v1/orders")).body.data, "nothing was ordered").toEqual([]);
});

test("a number that a double holds exactly is stored, and returned as the same value", async () => {
  const { caller, place } = await setUp();
  const created = await place(`,"metadata":{"n":[${EXACT.join(",")}],"text":": 1e400, 12345678901234567890"}`);
  expect(created.status).toBe(201);
  const { body } = await caller.get(`/api/v1/orders/${created.body.id}`);
  expect(body.metadata.n).toEqual(EXACT.map((literal) => Number(literal) + 0));
  expect(body.metadata.text).toBe(": 1e400, 12345678901234567890");
});

test("a quantity that is not exactly whole is refused; numbers in unknown fields are ignored with them", async () => {
  const { place, caller } = await setUp();
  const { body } = await place("");
  const quantity = "1.00000000000000000001";
  const lines = `{"line_items":[{"product_id":"${body.product_id}","quantity":${quantity}}]}`;
  const refused = await caller.send("POST", "/api/v1/orders", lines, { "idempotency-key": "q" });
  expect([refused.status, refused.body.errors]).toEqual([400, { "line_items.0.quantity": WORDS }]);
  expect((await place(`,"reference":12345678901234567890`)).status).toBe(201);
});

test("every number that a double does not hold exactly is found by the cheap check of the text", () => {
  const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 25 });
  const literal = fc
    .tuple(fc.boolean(), fc.nat(), fc.option(digits), fc.option(fc.integer({ min: -400, max: 400 })))
    .map(([minus, whole, fraction, exponent]) => {
      const rest = `${fraction === null ? "" : `.${fraction}`}${exponent === null ? "" : `e${exponent}`}`;
      return `${minus ? "-" : ""}${whole}${rest}`;
    });
  fc.assert(fc.property(literal, (text) => isExact(text) || mayBeInexact(`{"a":${text}}`)));
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => isExact(JSON.stringify(value))),
  );
  expect(INEXACT.filter(isExact)).toEqual([]);
  expect(EXACT.filter((text) => !isExact(text))).toEqual([]);
});
