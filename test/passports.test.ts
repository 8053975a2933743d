import { describe, expect, test } from "vitest";
import type { PassportId } from "../src/core/kernel/brand.ts";
import { isCivilDate } from "../src/core/kernel/calendar-day.ts";
import { drawPassport, releaseDraw } from "../src/core/passports/draw.ts";
import { showPassport } from "../src/core/passports/operator-view.ts";
import { draws, importRecords, makeDrawable, passport, withAgent } from "./support/passports.ts";
import { startPlatform } from "./support/platform.ts";

const POOL = "/api/v1/kyc/passports";

test("every day of the calendar is a date, and no other", () => {
  const two = (number: number) => String(number).padStart(2, "0");
  for (const year of ["0000", "0004", "1899", "1900", "1999", "2000", "2023", "2024", "2100", "9999"]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${two(month)}-${two(day)}`;
        const moment = new Date(`${text}T00:00:00Z`);
        // A day too many rolls over into the next month.
        const exists = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
        expect([text, isCivilDate(text)]).toEqual([text, exists]);
      }
    }
  }
  for (const text of ["", "2024-1-01", "2024-01-01T00:00", " 2024-01-01", "２024-01-01"]) {
    expect(isCivilDate(text)).toBe(false);
  }
});

describe("import", () => {
  test("returns imported records and duplicates, of the pool or of the same request", async () => {
    const { agent } = await withAgent();
    const known = passport({ passport_no: "AB 123-456", passport_country: "gb" });
    await importRecords(agent, [known]);
    const fresh = passport();
    const again = { ...known, passport_no: "ab123456" };
    const { status, body } = await agent.send("POST", POOL, {
      records: [fresh, again, { ...fresh }, { ...again, passport_country: "IRL" }],
      surplus: true,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      imported: 2,
      skipped_duplicates: 2,
      records: [
        { id: expect.any(String), passport_no: fresh.passport_no, status: "received" },
        { id: expect.any(String), passport_no: "ab123456", status: "received" },
      ],
      skipped: [
        { index: 1, passport_no: "ab123456", reason: "already_in_pool" },
        { index: 2, passport_no: fresh.passport_no, reason: "repeated_in_request" },
      ],
    });
  });

  test("a known document with other identity fields is skipped, and they are named", async () => {
    const { agent } = await withAgent();
    const known = passport();
    await importRecords(agent, [known]);
    const other = passport();
    const { body } = await agent.send("POST", POOL, {
      records: [
        { ...known, first_name: "Odile", passport_expiry: "2035-01-01" },
        { ...known, address: "", reference: "another note" },
        other,
        { ...passport(), passport_no: other.passport_no, last_name: other.last_name, date_of_birth: "1980-01-02" },
      ],
    });
    expect(body.skipped.map(({ index, reason }: { index: number; reason: string }) => [index, reason])).toEqual([
      [0, "differs: first_name, passport_expiry"],
      [1, "already_in_pool"],
      [3, "differs: date_of_birth"],
    ]);
    expect(body).toMatchObject({ imported: 1, skipped_duplicates: 3 });
  });

  test("one invalid record refuses all, and every invalid field of every record is named", async () => {
    const { agent } = await withAgent();
    const { status, body } = await agent.send("POST", POOL, {
      records: [
        passport(),
        { ...passport(), passport_no: 7, last_name: "" },
        { ...passport(), date_of_birth: "2001-02-29", passport_expiry: "soon", passport_country: "XYZ" },
        { ...passport(), date_of_birth: "2026-03-02", passport_no: "A!", title: "x".repeat(21), reference: null },
        { first_name: "Only" },
        "nothing",
      ],
    });
    expect(status).toBe(400);
    expect(body.type).toMatch(/\/errors\/validation$/);
    expect(Object.keys(body.errors).sort()).toEqual([
      "records.1.last_name",
      "records.1.passport_no",
      "records.2.date_of_birth",
      "records.2.passport_country",
      "records.2.passport_expiry",
      "records.3.date_of_birth",
      "records.3.passport_no",
      "records.3.title",
      "records.4.date_of_birth",
      "records.4.last_name",
      "records.4.passport_country",
      "records.4.passport_expiry",
      "records.4.passport_no",
      "records.5",
    ]);
    expect(body.errors["records.1.passport_no"]).toHaveLength(1);
    expect(body.errors["records.3.date_of_birth"]).toEqual(["must be in the past"]);
    expect((await agent.get(POOL)).body.count).toBe(0);
  });

  test.each([
    ["no records", { records: [] }],
    ["too many", { records: Array.from({ length: 201 }, () => passport()) }],
    ["no list", { records: "all" }],
    ["no body", undefined],
  ])("%s is a 400", async (_name, body) => {
    const { agent } = await withAgent();
    const answer = await agent.send("POST", POOL, body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.errors)).toHaveLength(1);
  });

  test("200 records are imported at once, and the list shows them, newest first", async () => {
    const { agent } = await withAgent();
    const records = Array.from({ length: 200 }, () => passport({ passport_country: "gb" }));
    const ids = await importRecords(agent, records);
    const first = await agent.get(`${POOL}?limit=150`);
    expect(first.body.records.map((record: { id: string }) => record.id)).toEqual(ids.toReversed().slice(0, 150));
    expect(first.body.count).toBe(150);
    const rest = await agent.get(`${POOL}?limit=150&cursor=${first.body.pagination.next_cursor}`);
    expect(rest.body.count).toBe(50);
    expect(rest.body.pagination.has_more).toBe(false);
    expect(rest.body.records.at(-1)).toEqual({
      id: ids[0],
      ...records[0],
      passport_country: "GBR",
      status: "received",
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await agent.get(POOL)).body.count).toBe(100);
    expect((await agent.get(`${POOL}?limit=201`)).status).toBe(400);
    expect((await agent.get(`${POOL}?cursor=abc`)).body.type).toMatch(/invalid_cursor$/);
  });
});

describe("visibility", () => {
  test("a number is looked up in any spelling, in the caller's pool and environment only", async () => {
    const { agent, caller, credential } = await withAgent();
    const other = await caller({ slug: "other", agent: true });
    const live = await credential("agency", { live: true });
    const mine = passport({ passport_no: "XY 99-88 77", first_name: "Mine" });
    await importRecords(agent, [mine, passport()]);
    await importRecords(other, [{ ...mine, first_name: "Theirs" }]);
    const found = await agent.get(`${POOL}?passport_no=${encodeURIComponent("xy998877")}`);
    expect(found.body.records.map((record: { first_name: string }) => record.first_name)).toEqual(["Mine"]);
    expect((await agent.get(`${POOL}?passport_no=XY99887`)).body.records).toEqual([]);
    expect((await live.get(`${POOL}?passport_no=XY998877`)).body.records).toEqual([]);
    expect((await live.get(POOL)).body.count).toBe(0);
    expect(await importRecords(live, [mine])).toHaveLength(1);
    const [id] = await importRecords(agent, [passport()]);
    for (const stranger of [other, live]) {
      expect((await stranger.send("PATCH", `${POOL}/${id}`, { title: "Mr" })).status).toBe(404);
      expect((await stranger.send("DELETE", `${POOL}/${id}`)).status).toBe(404);
    }
  });

  test("verification, onshore mark, uses and assignment are in no response, not even as a changed time", async () => {
    const { agent, store, clock } = await withAgent();
    const [id] = await importRecords(agent, [passport()]);
    const before = await agent.get(POOL);
    clock.advance(60_000);
    await makeDrawable(store, [id as PassportId]);
    await store.write(drawPassport, draws(agent));
    const after = await agent.get(POOL);
    expect(after.body).toEqual(before.body);
    expect(JSON.stringify(after.body)).not.toMatch(/verif|onshore|use|assigned|sealed|index/i);
  });

  test("without an agent record the pool is refused, and scopes are required", async () => {
    const { caller, credential } = await startPlatform();
    const plain = await caller({ slug: "plain" });
    const id = crypto.randomUUID();
    for (const answer of [
      await plain.send("POST", POOL, { records: [passport()] }),
      await plain.get(POOL),
      await plain.send("PATCH", `${POOL}/${id}`, { title: "Mr" }),
      await plain.send("DELETE", `${POOL}/${id}`),
    ]) {
      expect(answer.status).toBe(422);
      expect(answer.body.type).toMatch(/no_agent_record$/);
    }
    const reader = await credential("plain", { scopes: ["read:orders"] });
    expect((await reader.send("POST", POOL, { records: [passport()] })).status).toBe(403);
    const writer = await credential("plain", { scopes: ["write:orders"] });
    expect((await writer.get(POOL)).status).toBe(403);
  });
});

describe("edit and withdraw", () => {
  test("any field can be changed, null clears optional ones", async () => {
    const { agent } = await withAgent();
    const [id] = await importRecords(agent, [passport()]);
    const change = {
      first_name: "Odile",
      passport_country: "fr",
      address: "1 Wattle Lane",
      title: null,
      reference: "",
    };
    const { status, body } = await agent.send("PATCH", `${POOL}/${id}`, change);
    expect([status, body]).toEqual([200, { ok: true, id }]);
    const [record] = (await agent.get(POOL)).body.records;
    expect(record).toMatchObject({ first_name: "Odile", passport_country: "FRA", title: null, reference: null });
    expect(record).toMatchObject({ address: "1 Wattle Lane", suburb: "Newtown", date_of_birth: "1975-03-13" });
  });

  test.each([
    [{}, "body"],
    [{ unknown: 1 }, "body"],
    [{ first_name: null }, "first_name"],
    [{ last_name: " " }, "last_name"],
    [{ passport_expiry: "2030-02-30" }, "passport_expiry"],
    [{ passport_country: "ZZZ" }, "passport_country"],
    [{ passport_no: true }, "passport_no"],
    [{ date_of_birth: "2999-01-01" }, "date_of_birth"],
  ])("%j is a 400 naming %s", async (change, field) => {
    const { agent } = await withAgent();
    const [id] = await importRecords(agent, [passport()]);
    const { status, body } = await agent.send("PATCH", `${POOL}/${id}`, change);
    expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
  });

  test.each([
    [{ passport_no: "NEW12345" }, "pending"],
    [{ first_name: "Other" }, "pending"],
    [{ last_name: "Other" }, "pending"],
    [{ passport_expiry: "2035-01-01" }, "pending"],
    [{ date_of_birth: "1975-03-14" }, "pending"],
    [{ passport_country: "IRL" }, "pending"],
    [{ address: "2 Elsewhere" }, "verified"],
    [{ passport_country: "gb" }, "verified"],
    [{ date_of_birth: "1975-03-13" }, "verified"],
  ])("%j leaves it %s", async (change, verification) => {
    const { agent, store } = await withAgent();
    const [id] = await importRecords(agent, [passport()]);
    await makeDrawable(store, [id as PassportId]);
    await agent.send("PATCH", `${POOL}/${id}`, change);
    expect(await store.read(showPassport, id as PassportId)).toMatchObject({ verification, onshore: true });
    const drawn = await store.write(drawPassport, draws(agent));
    expect(drawn !== null).toBe(verification === "verified");
  });

  test("the number of another record is a conflict; that of a withdrawn one is free again", async () => {
    const { agent } = await withAgent();
    const [one, two] = [passport(), passport()];
    const [first, second] = await importRecords(agent, [one, two]);
    const taken = await agent.send("PATCH", `${POOL}/${second}`, { passport_no: one.passport_no.toLowerCase() });
    expect([taken.status, taken.body.type]).toEqual([409, expect.stringMatching(/passport_conflict$/)]);
    const gone = await agent.send("DELETE", `${POOL}/${first}`);
    expect([gone.status, gone.body]).toEqual([200, { ok: true, id: first, status: "withdrawn" }]);
    expect((await agent.get(POOL)).body.records.map(({ id }: { id: string }) => id)).toEqual([second]);
    expect((await agent.get(`${POOL}?passport_no=${one.passport_no}`)).body.count).toBe(0);
    expect((await agent.send("DELETE", `${POOL}/${first}`)).status).toBe(404);
    expect((await agent.send("PATCH", `${POOL}/${first}`, { title: "Mr" })).status).toBe(404);
    expect((await agent.send("PATCH", `${POOL}/${second}`, { passport_no: one.passport_no })).status).toBe(200);
    expect(await importRecords(agent, [two])).toHaveLength(1);
  });

  test("a passport that a request uses is locked until its draw is released", async () => {
    const { agent, store } = await withAgent();
    const [id] = await importRecords(agent, [passport()]);
    await makeDrawable(store, [id as PassportId]);
    const request = draws(agent);
    await store.write(drawPassport, request);
    for (const answer of [
      await agent.send("PATCH", `${POOL}/${id}`, { title: "Mr" }),
      await agent.send("DELETE", `${POOL}/${id}`),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ title: "Passport In Use" });
      expect(answer.body.type).toMatch(/passport_in_use$/);
    }
    await store.write(releaseDraw, { requestId: request.requestId, actor: "client:test" });
    expect((await agent.send("PATCH", `${POOL}/${id}`, { title: "Mr" })).status).toBe(200);
    expect((await agent.send("DELETE", `${POOL}/${id}`)).status).toBe(200);
  });
});
