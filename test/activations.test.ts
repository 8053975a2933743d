import { describe, expect, test } from "vitest";
import type { Read } from "../src/core/store/store.ts";
import {
  ACTIVATIONS,
  expectNoIdentity,
  iccid,
  request,
  requestB,
  startActivationPlatform,
} from "./support/activations.ts";
import { importRecords, makeDrawable, passport } from "./support/passports.ts";
import type { Reply } from "./support/platform.ts";

/** 2026-03-02, noon in Sydney. */
async function withPartner() {
  const platform = await startActivationPlatform();
  const partner = await platform.caller({ agent: true });
  return { ...platform, partner };
}

const slugOf = ({ body }: Reply): string => String(body.type).split("/").at(-1) ?? "";
const auditOf = async (q: Read, id: string) =>
  (await q.db.select().from(q.t.auditEntries)).filter((entry) => entry.target_id === id);

describe("submit", () => {
  test("returns the creation result and the location of the request", async () => {
    const { partner } = await withPartner();
    const sent = request({ note: "late flight", plan_name: "Visitor" });
    const { status, headers, body } = await partner.send("POST", ACTIVATIONS, sent);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      iccid: sent.iccid,
      carrier: "Carrier A (Australia)",
      activation_date: "2026-03-10",
      customer_name: "Philippa Underwold",
      status: "pending",
      processing_status: "pending",
      processing_mode: "scheduled",
      message: expect.stringContaining("2026-03-10"),
      created_at: "2026-03-02T01:00:00.000Z",
    });
    expect(headers.get("location")).toBe(`/api/v1/activations/${body.id}`);
    expectNoIdentity(body);
  });

  test("a request for today in Sydney is immediate", async () => {
    const { partner } = await withPartner();
    const { body } = await partner.send("POST", ACTIVATIONS, request({ activation_date: "2026-03-02" }));
    expect(body.processing_mode).toBe("immediate");
  });

  test("shape is validated first: every invalid field is named, nothing else is checked", async () => {
    const { partner } = await withPartner();
    const answer = await partner.send("POST", ACTIVATIONS, { iccid: "12", activation_date: "10.3.2026", puk: 5 });
    expect([answer.status, slugOf(answer)]).toEqual([400, "validation"]);
    expect(answer.body.errors).toEqual({
      iccid: ["must be 13-20 digits"],
      activation_date: ["must be YYYY-MM-DD"],
      puk: [expect.any(String)],
    });
    const identity = { date_of_birth: "1964-02-30", passport_country: "XX", passport_no: "!", sim_last4: "12" };
    const second = await partner.send("POST", ACTIVATIONS, request({ ...identity, iccid: "9900000000000" }));
    expect(Object.keys(second.body.errors)).toEqual(Object.keys(identity).sort((a, b) => order(a) - order(b)));
    expect(slugOf(await partner.send("POST", ACTIVATIONS, "{"))).toBe("invalid_request");
    expect(slugOf(await partner.send("POST", ACTIVATIONS))).toBe("validation");
  });

  const order = (field: string) => ["date_of_birth", "passport_no", "passport_country", "sim_last4"].indexOf(field);

  test("the carrier is checked second: an unknown prefix is a 422 that names the supported ones", async () => {
    const { partner } = await withPartner();
    const answer = await partner.send("POST", ACTIVATIONS, { iccid: "8944000000000", activation_date: "2020-01-01" });
    expect([answer.status, slugOf(answer)]).toEqual([422, "carrier_not_supported"]);
    expect(answer.body).toMatchObject({
      carrier: "unknown",
      supported_carriers: ["Carrier B (Australia)", "Carrier A (Australia)"],
    });
  });

  test("identity fields are checked third, per carrier; null and blank count as missing", async () => {
    const { partner } = await withPartner();
    const bare = { iccid: iccid(), activation_date: "2020-01-01", puk: null, address: "  " };
    const a = await partner.send("POST", ACTIVATIONS, bare);
    expect([a.status, slugOf(a)]).toEqual([400, "missing_kyc"]);
    const needed = ["first_name", "last_name", "passport_no", "passport_country", "passport_expiry", "date_of_birth"];
    expect(a.body).toMatchObject({
      carrier: "Carrier A (Australia)",
      region: "Australia",
      required_fields: [...needed, "address", "sim_last4", "puk"],
      detail: expect.stringContaining([...needed, "address", "sim_last4", "puk"].join(", ")),
    });
    const b = await partner.send("POST", ACTIVATIONS, requestB({ title: undefined }));
    expect(b.body.required_fields).toEqual([...needed, "address", "title"]);
    expect(b.body.detail).toContain("title");
    expect(b.body.detail).not.toContain("address");
  });

  test.each([
    ["2026-03-01", "past in Sydney"],
    ["2026-02-30", "no such day"],
    ["2027-02-29", "no leap year"],
    ["2026-13-01", "no such month"],
  ])("then the date: %s (%s) is invalid_activation_date", async (activation_date) => {
    const { partner } = await withPartner();
    const answer = await partner.send("POST", ACTIVATIONS, request({ activation_date, passport_expiry: "2001-01-01" }));
    expect([answer.status, slugOf(answer)]).toEqual([400, "invalid_activation_date"]);
  });

  test("the passport's expiry is checked after the date; it may be the same day", async () => {
    const { partner } = await withPartner();
    const day = await partner.send("POST", ACTIVATIONS, request({ passport_expiry: "2026-03-10" }));
    expect(day.status).toBe(201);
    const answer = await partner.send("POST", ACTIVATIONS, request({ passport_expiry: "2026-03-09" }));
    expect([answer.status, slugOf(answer)]).toEqual([400, "validation"]);
    expect(Object.keys(answer.body.errors)).toEqual(["passport_expiry"]);
  });

  test("names of over 100 characters together and telephones of over 20 are refused", async () => {
    const { partner } = await withPartner();
    const long = "n".repeat(60);
    const names = await partner.send("POST", ACTIVATIONS, request({ first_name: long, last_name: long }));
    expect(Object.keys(names.body.errors)).toEqual(["last_name"]);
    const phone = await partner.send("POST", ACTIVATIONS, request({ customer_phone: "1".repeat(21) }));
    expect(Object.keys(phone.body.errors)).toEqual(["customer_phone"]);
  });

  test("needs a token with write:orders; reading needs read:orders", async () => {
    const { url, caller, partner } = await withPartner();
    expect((await fetch(url + ACTIVATIONS, { method: "POST" })).status).toBe(401);
    const reader = await caller({ scopes: ["read:orders"] });
    expect((await reader.send("POST", ACTIVATIONS, request())).status).toBe(403);
    const writer = await caller({ scopes: ["write:orders"] });
    expect((await writer.get(ACTIVATIONS)).status).toBe(403);
    expect((await partner.get(ACTIVATIONS)).status).toBe(200);
  });
});

describe("conflicts", () => {
  test("an open request with the same date is a duplicate, whatever is confirmed", async () => {
    const { partner, submit } = await withPartner();
    const sim = iccid();
    await submit(partner, { iccid: sim });
    for (const confirm_date_change of [false, true]) {
      const answer = await partner.send("POST", ACTIVATIONS, request({ iccid: sim, confirm_date_change }));
      expect([answer.status, slugOf(answer)]).toEqual([409, "duplicate"]);
    }
  });

  test("with another date it is a date_conflict that names the request", async () => {
    const { partner, submit } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    const answer = await partner.send("POST", ACTIVATIONS, request({ iccid: sim, activation_date: "2026-03-11" }));
    expect([answer.status, slugOf(answer)]).toEqual([409, "date_conflict"]);
    expect(answer.body).toMatchObject({ existing_date: "2026-03-10", existing_request_id: id });
  });

  test("confirm_date_change cancels the old request and creates the new one together", async () => {
    const { partner, submit, show, store } = await withPartner();
    const sim = iccid();
    const old = await submit(partner, { iccid: sim });
    const id = await submit(partner, { iccid: sim, activation_date: "2026-03-11", confirm_date_change: true });
    expect(await show(partner, old)).toMatchObject({ status: "cancelled", cancelled_at: "2026-03-02T01:00:00.000Z" });
    expect(await show(partner, id)).toMatchObject({ status: "pending", activation_date: "2026-03-11" });
    expect(await store.read(auditOf, old)).toMatchObject([{ action: "activations.cancel" }]);
    const bad = request({ iccid: sim, activation_date: "2026-02-30", confirm_date_change: true });
    expect((await partner.send("POST", ACTIVATIONS, bad)).status).toBe(400);
    expect(await show(partner, id)).toMatchObject({ status: "pending" });
  });

  test("another partner's or environment's request is a duplicate that reveals nothing", async () => {
    const { partner, caller, credential, submit } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    const other = await caller();
    const live = await credential("partner-1", { live: true });
    const asked = request({ iccid: sim, activation_date: "2026-03-11", confirm_date_change: true });
    for (const stranger of [other, live]) {
      const { status, body } = await stranger.send("POST", ACTIVATIONS, asked);
      expect(status).toBe(409);
      const { type, title, detail, instance, requestId, timestamp, ...rest } = body;
      expect(type).toMatch(/duplicate$/);
      expect(rest).toEqual({ status: 409 });
      expect(detail).toBe("This ICCID was already submitted for activation.");
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`${id}|2026-03-10|partner-1|sandbox`));
    }
  });

  test("after a cancellation the ICCID is free again, for any partner", async () => {
    const { partner, caller, submit } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`);
    await submit(await caller(), { iccid: sim });
  });

  test("of two concurrent requests for one ICCID one is created, the other is a duplicate", async () => {
    const { partner, caller } = await withPartner();
    const other = await caller();
    const sim = iccid();
    const answers = await Promise.all(
      [partner, other].map((one) => one.send("POST", ACTIVATIONS, request({ iccid: sim }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

describe("read", () => {
  test("the detail record has exactly the decided fields and no identity", async () => {
    const { partner, submit, show } = await withPartner();
    const id = await submit(partner, { note: "late flight", plan_name: "Visitor", customer_phone: "+61491570157" });
    const record = await show(partner, id);
    expect(record).toEqual({
      id,
      iccid: expect.any(String),
      carrier: "Carrier A (Australia)",
      activation_date: "2026-03-10",
      customer_name: "Philippa Underwold",
      status: "pending",
      processing_status: "pending",
      processing_mode: "scheduled",
      mobile_number: null,
      confirmation_number: null,
      error_type: null,
      error_message: null,
      plan_name: "Visitor",
      note: "late flight",
      customer_email: "philippa@example.com",
      created_at: "2026-03-02T01:00:00.000Z",
      updated_at: "2026-03-02T01:00:00.000Z",
      submitted_at: null,
      confirmed_at: null,
      activated_at: null,
      cancelled_at: null,
    });
    expectNoIdentity(record);
  });

  test("a request of another partner or environment is a 404 for every verb", async () => {
    const { partner, caller, credential, submit } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    const strangers = [await caller({ agent: true }), await credential("partner-1", { live: true })];
    for (const stranger of strangers) {
      const answers = [
        await stranger.get(`${ACTIVATIONS}/${id}`),
        await stranger.send("PATCH", `${ACTIVATIONS}/${id}`, { note: "x" }),
        await stranger.send("POST", `${ACTIVATIONS}/${id}/cancel`),
        await stranger.send("PATCH", `${ACTIVATIONS}/by-iccid/${sim}`, { note: "x" }),
        await stranger.send("POST", `${ACTIVATIONS}/by-iccid/${sim}/cancel`),
      ];
      expect(answers.map((answer) => [answer.status, slugOf(answer)])).toEqual(Array(5).fill([404, "not_found"]));
      expect((await stranger.get(`${ACTIVATIONS}?iccid=${sim}`)).body.data).toEqual([]);
    }
  });

  test("the list is newest first, filters by ICCID and status, and pages", async () => {
    const { partner, submit } = await withPartner();
    const sims = [iccid(), iccid(), iccid()];
    const ids = [];
    for (const sim of sims) ids.push(await submit(partner, { iccid: sim }));
    await partner.send("POST", `${ACTIVATIONS}/${ids[1]}/cancel`);
    const listed = async (query: string) => (await partner.get(`${ACTIVATIONS}?${query}`)).body;
    const all = await listed("");
    expect(all.data.map((one: { id: string }) => one.id)).toEqual(ids.toReversed());
    expect(all).toMatchObject({ count: 3, pagination: { has_more: false, next_cursor: null, count: 3 } });
    expect((await listed(`iccid=${sims[0]}`)).data).toMatchObject([{ id: ids[0] }]);
    expect((await listed("status=cancelled")).data).toMatchObject([{ id: ids[1] }]);
    expect((await listed(`status=pending&iccid=${sims[1]}`)).data).toEqual([]);
    const first = await listed("limit=2");
    expect(first.data).toHaveLength(2);
    const second = await listed(`limit=2&cursor=${first.pagination.next_cursor}`);
    expect(second.data).toMatchObject([{ id: ids[0] }]);
    const elsewhere = await partner.get(`${ACTIVATIONS}?status=pending&cursor=${first.pagination.next_cursor}`);
    expect(slugOf(elsewhere)).toBe("invalid_cursor");
    for (const query of ["limit=0", "limit=101", "status=manual_required"]) {
      expect((await partner.get(`${ACTIVATIONS}?${query}`)).status).toBe(400);
    }
    expectNoIdentity(all);
  });
});

test("the database holds no document, PUK, birth date or address of a request in clear", async () => {
  const { partner, submit, store } = await withPartner();
  await submit(partner);
  expectNoIdentity(await store.read((q) => q.db.select().from(q.t.activations), null));
});

test("a request by the API draws no passport from the pool", async () => {
  const { partner, store, submit } = await withPartner();
  await makeDrawable(store, await importRecords(partner, [passport()]));
  await submit(partner);
  expect(await store.read((q) => q.db.select().from(q.t.passportUses), null)).toEqual([]);
});
