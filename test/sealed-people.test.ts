import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findStory } from "../src/core/find/find.ts";
import type { PassportId } from "../src/core/kernel/brand.ts";
import { openEvent } from "../src/core/outbox/event-payload.ts";
import { openPassport, requirePassport } from "../src/core/passports/passport.ts";
import type { Read } from "../src/core/store/store.ts";
import { earlierDatabase, openEarlier } from "./support/earlier.ts";
import { indexFaults } from "./support/people.ts";
import { runStatements } from "./support/store.ts";

describe("a database of an earlier version, whose people were in clear", () => {
  test("has them sealed and indexed at its first start, and none of them stays in its files", async () => {
    const old = await databaseInClear();
    const { location } = old;
    const store = await openEarlier(old);
    for (const typed of ["zweig", "Eva", "Mia.Q@example.com", "0491570156", "1570157", old.eid, "1Z777"]) {
      const { matched } = await store.read(findStory, typed);
      expect([typed, matched.map(({ id }) => id)]).toEqual([typed, [old.meant(typed)]]);
    }
    const { rows, clear } = await store.read(everyEvent, null);
    expect(rows).toEqual([{ customer_name: "Mia Quillfeather", mobile_number: "+61491570157" }]);
    expect(clear).toEqual([{}]);
    expect(await indexFaults(store)).toEqual([]);
    await store.erase();
    if ("file" in location) expectNoPeople(location.file);
    const passport = await store.read((q: Read) => requirePassport(q, "id-0" as PassportId), null);
    expect(openPassport(store, passport)).toMatchObject({
      first_name: "Eva",
      last_name: "Zweig",
      passport_no: "NO-id-0",
    });
  });

  test("goes on where that was cut off", async () => {
    const old = await databaseInClear();
    const { location } = old;
    await (await openEarlier(old)).close();
    // As a start leaves it that was killed between two transactions: some are sealed, others are not.
    await runStatements(location, [
      `UPDATE orders SET customer_sealed = '${old.customer}'`,
      "DELETE FROM people_index WHERE kind = 'order'",
      "INSERT INTO settings VALUES ('people', 'clear')",
    ]);
    const store = await openEarlier(old);
    expect((await store.read(findStory, "zweig")).matched).toMatchObject([{ kind: "passport" }]);
    expect((await store.read(findStory, "mia.q@example.com")).matched).toMatchObject([{ kind: "order" }]);
    expect(await indexFaults(store)).toEqual([]);
    await store.erase();
    if ("file" in location) expectNoPeople(location.file);
  });
});

const everyEvent = async (q: Read) => {
  const events = await q.db.select().from(q.t.events);
  return { rows: events.map((event) => openEvent(q, event)?.data), clear: events.map(({ data }) => data) };
};

function expectNoPeople(file: string): void {
  const bytes = [file, `${file}-wal`].map((path) => readFileSync(path, "utf8")).join("\n");
  for (const text of ["Zweig", "Quillfeather", "example.com", "491570156", "491570157", "8904903200000"]) {
    expect(bytes, text).not.toContain(text);
  }
}

/** A database as the version before wrote it: an order with customer and traveler, a request, a passport, an event. */
async function databaseInClear() {
  const old = await earlierDatabase(1, "0012");
  const eid = "89049032000000000000000000000017";
  const customer = JSON.stringify({ email: "Mia.Q@Example.com", name: "Mia Quillfeather", phone: null });
  const person = JSON.stringify({
    customer_email: "t@example.com",
    customer_name: "Tom Quillfeather",
    customer_phone: null,
    activation_date: "2026-03-02",
    timezone: "UTC",
    eid_number: eid,
    selected_plan_id: null,
  });
  const shipping = JSON.stringify({ carrier: "DHL", tracking_number: "1Z777", tracking_url: null, shipped_at: 1 });
  const event = JSON.stringify({ customer_name: "Mia Quillfeather", mobile_number: "+61491570157" });
  await runStatements(old.location, [
    "UPDATE passports SET first_name = 'Eva', last_name = 'Zweig'",
    `INSERT INTO orders (id, order_number, partner_id, environment, status, currency, total_cents, quantity, product_id,
      product_sku, unit_price_cents, metadata, customer, email_key, created_at, updated_at, reserved)
      VALUES ('o', 'ORD-1', 'p', 'production', 'fulfilled', 'AUD', 1, 1, 'x', 'X', 1, '{}', '${customer}',
      'mia.q@example.com', 0, 0, 0)`,
    `INSERT INTO order_lines (id, order_id, partner_id, environment, created_at, position, product_id, product_name,
      product_sku, product_type, delivery_method, quantity, unit_price_cents, status, assigned, shipping)
      VALUES ('l', 'o', 'p', 'production', 0, 0, 'x', 'X', 'X', 'physical_sim', 'shipping', 1, 1, 'fulfilled', 0,
      '${shipping}')`,
    `INSERT INTO order_items (id, order_id, line_id, position, quantity, traveller, email_key, status, supplier,
      attempts, created_at, updated_at)
      VALUES ('i', 'o', 'l', 0, 1, '${person}', 't@example.com', 'activated', '', 0, 0, 0)`,
    `INSERT INTO activations (id, partner_id, environment, iccid, carrier_prefix, carrier, activation_date,
      customer_name, customer_email, email_key, customer_phone, mobile_number, status, processing_status,
      processing_mode, not_before, faults, exchanges, created_at, updated_at)
      VALUES ('a', 'p', 'production', '8961031234567890123', '896103', 'C', '2026-03-02', 'Ada Quillfeather',
      'ada@example.com', 'ada@example.com', '+61 491 570 156', '+61491570157', 'completed', 'completed', 'scheduled',
      0, 0, 0, 0, 0)`,
    `INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data)
      VALUES ('e', 'activation.activated', 'p', 'production', 'a', 0, '${event}')`,
  ]);
  const meant = (typed: string) => ({ zweig: "id-0", Eva: "id-0", "0491570156": "a", "1570157": "a" })[typed] ?? "o";
  return { ...old, eid, customer, meant };
}
