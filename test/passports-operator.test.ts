import { describe, expect, test } from "vitest";
import { purge } from "../src/core/erasure/purge.ts";
import type { PassportId } from "../src/core/kernel/brand.ts";
import { drawPassport, releaseDraw } from "../src/core/passports/draw.ts";
import { findPassports, passportUses, showPassport, verificationQueue } from "../src/core/passports/operator-view.ts";
import { revealPassport } from "../src/core/passports/reveal.ts";
import { recordVerdict, recordVerdicts } from "../src/core/passports/verdict.ts";
import type { Read } from "../src/core/store/store.ts";
import { draws, importRecords, makeDrawable, passport, withAgent } from "./support/passports.ts";

const POOL = "/api/v1/kyc/passports";

const auditOf = async (q: Read, action: string) =>
  (await q.db.select().from(q.t.auditEntries)).filter((entry) => entry.action === action);

describe("draws", () => {
  test("take only passports that are verified, onshore, unexpired on the date and of the same pool", async () => {
    const { agent, store, caller } = await withAgent();
    const other = await caller({ slug: "other", agent: true });
    const [pending, offshore, expiring, rejected, good] = (await importRecords(agent, [
      passport(),
      passport(),
      passport({ passport_expiry: "2026-03-31" }),
      passport(),
      passport({ passport_expiry: "2026-04-01" }),
    ])) as [PassportId, PassportId, PassportId, PassportId, PassportId];
    await makeDrawable(store, [expiring, rejected]);
    await store.write(recordVerdict, { id: offshore, verification: "verified", onshore: false, actor: "operator" });
    const refusal = { verification: "rejected", reason: "not legible", actor: "operator" } as const;
    await store.write(recordVerdict, { id: rejected, ...refusal });
    expect(await store.write(drawPassport, draws(agent))).toBeNull();
    await makeDrawable(store, [good]);
    expect(await store.write(drawPassport, draws(agent, { environment: "production" }))).toBeNull();
    expect(await store.write(drawPassport, draws(other))).toBeNull();
    expect(await store.write(drawPassport, draws(agent, { activationDate: "2026-04-02" }))).toBeNull();
    const drawn = await store.write(drawPassport, draws(agent));
    expect(drawn?.passportId).toBe(good);
    expect(drawn?.identity.reveal()).toMatchObject({ passport_no: expect.any(String), date_of_birth: "1975-03-13" });
    expect(JSON.stringify(drawn)).not.toContain("1975-03-13");
    expect(await store.read(showPassport, pending)).toMatchObject({ uses: 0, verification: "pending" });
  });

  test("take the least used, stop at 4 a brand, and continue after a release", async () => {
    const { agent, store } = await withAgent();
    const ids = await importRecords(agent, [passport(), passport()]);
    await makeDrawable(store, ids);
    const requests = Array.from({ length: 8 }, () => draws(agent));
    const drawn = [];
    for (const request of requests) drawn.push((await store.write(drawPassport, request))?.passportId);
    const [a, b] = ids;
    expect(drawn).toEqual([a, b, a, b, a, b, a, b]);
    expect(await store.write(drawPassport, draws(agent))).toBeNull();
    const brandB = draws(agent, { brand: "brand-b" });
    expect((await store.write(drawPassport, brandB))?.passportId).toBe(a);
    expect(await store.read(showPassport, a as PassportId)).toMatchObject({ uses: 5 });
    expect(await store.read(showPassport, a as PassportId)).toMatchObject({ assigned_request_id: brandB.requestId });

    const given = requests[3]?.requestId ?? "";
    await store.write(releaseDraw, { requestId: given, actor: "client:test" });
    await store.write(releaseDraw, { requestId: given, actor: "client:test" });
    expect(await store.read(showPassport, b as PassportId)).toMatchObject({ uses: 3 });
    expect((await store.write(drawPassport, draws(agent)))?.passportId).toBe(b);
    expect(await store.write(drawPassport, draws(agent))).toBeNull();

    const uses = await store.read(passportUses, b as PassportId);
    expect(uses).toHaveLength(5);
    expect(uses.filter((use) => use.released_at !== null).map((use) => use.request_id)).toEqual([given]);
    expect(uses[0]).toMatchObject({ brand: "brand-a", carrier: "896103", actor: "client:test" });
    expect(await store.read((q) => auditOf(q, "passports.draw"), null)).toHaveLength(10);
    expect(await store.read((q) => auditOf(q, "passports.release"), null)).toHaveLength(1);
  });

  test("release clears the assignment of that request only", async () => {
    const { agent, store } = await withAgent();
    const ids = await importRecords(agent, [passport()]);
    await makeDrawable(store, ids);
    const [first, second] = [draws(agent), draws(agent)];
    await store.write(drawPassport, first);
    await store.write(drawPassport, second);
    await store.write(releaseDraw, { requestId: first.requestId, actor: "worker" });
    const id = ids[0] as PassportId;
    expect(await store.read(showPassport, id)).toMatchObject({ uses: 1, assigned_request_id: second.requestId });
    await store.write(releaseDraw, { requestId: second.requestId, actor: "worker" });
    expect(await store.read(showPassport, id)).toMatchObject({ uses: 0, assigned_request_id: null });
  });
});

describe("the operator", () => {
  test("lists what awaits verification, over all partners, oldest first, page by page", async () => {
    const { agent, caller, store } = await withAgent();
    const other = await caller({ slug: "other", agent: true });
    const [a] = await importRecords(agent, [passport()]);
    const [b] = await importRecords(other, [passport()]);
    const [c, d] = await importRecords(agent, [passport(), passport()]);
    await agent.send("DELETE", `${POOL}/${c}`);
    const first = await store.read(verificationQueue, { limit: 2 });
    expect(first.data.map((row) => [row.id, row.partner])).toEqual([
      [a, "agency"],
      [b, "other"],
    ]);
    const rest = await store.read(verificationQueue, { limit: 2, cursor: first.next_cursor ?? "" });
    expect([rest.data.map((row) => row.id), rest.next_cursor]).toEqual([[d], null]);
    expect(JSON.stringify([first, rest])).not.toMatch(/1975-03-13|PA0|Banksia|sealed/);
  });

  test("records verdicts on every copy of a document, and a repetition changes nothing", async () => {
    const { agent, caller, store } = await withAgent();
    const other = await caller({ slug: "other", agent: true });
    const shared = passport({ passport_no: "SH-1 11" });
    const [mine] = await importRecords(agent, [shared]);
    const [theirs] = await importRecords(other, [shared]);
    const verdicts = [
      { country: "GBR", number: "sh111", verification: "verified", onshore: true },
      { country: "IRL", number: "sh111", verification: "verified" },
    ] as const;
    expect(await store.write(recordVerdicts, { verdicts, actor: "operator" })).toEqual(["updated", "not_found"]);
    expect(await store.write(recordVerdicts, { verdicts, actor: "operator" })).toEqual(["unchanged", "not_found"]);
    const found = await store.read(findPassports, "SH111");
    expect(found.map(({ id }) => id).sort()).toEqual([mine, theirs].sort());
    expect(found.every((row) => row.verification === "verified" && row.onshore)).toBe(true);
    const only = [{ ...verdicts[0], verification: "rejected", reason: "blurred", partnerId: other.partnerId }] as const;
    await store.write(recordVerdicts, { verdicts: only, actor: "operator" });
    expect(await store.read(showPassport, mine as PassportId)).toMatchObject({ verification: "verified" });
    expect(await store.read(showPassport, theirs as PassportId)).toMatchObject({ rejection: "blurred" });
  });

  test("reading an entire identity is in the audit trail, without values", async () => {
    const { agent, store } = await withAgent();
    const record = passport();
    const [id] = await importRecords(agent, [record]);
    const identity = await store.write(revealPassport, { id: id as PassportId, actor: "operator" });
    const { reference, ...fields } = record;
    expect(identity.reveal()).toEqual(fields);
    expect(`${identity} ${JSON.stringify({ identity })}`).not.toContain(record.passport_no);
    const entries = await store.read((q) => auditOf(q, "passports.reveal"), null);
    expect(entries).toMatchObject([{ actor: "operator", target_id: id, fields: expect.arrayContaining(["address"]) }]);
    expect(JSON.stringify(entries)).not.toContain(record.passport_no);
  });

  test("purges what was withdrawn or expired long ago, and only that", async () => {
    const { agent, store, clock } = await withAgent();
    const [gone, expired, recent, kept] = (await importRecords(agent, [
      passport(),
      passport({ passport_expiry: "2026-03-01" }),
      passport(),
      passport(),
    ])) as PassportId[];
    await makeDrawable(store, [gone as PassportId]);
    const request = draws(agent);
    await store.write(drawPassport, request);
    await store.write(releaseDraw, { requestId: request.requestId, actor: "client:test" });
    await agent.send("DELETE", `${POOL}/${gone}`);
    clock.advance(40 * 86_400_000);
    await agent.send("DELETE", `${POOL}/${recent}`);
    const before = clock.now() - 30 * 86_400_000;
    const purged = async () => (await purge(store, { before, actor: "operator", dryRun: false })).passports;
    expect(await purged()).toBe(2);
    expect(await purged()).toBe(0);
    const left = await store.read(async (q) => (await q.db.select().from(q.t.passports)).map(({ id }) => id), null);
    expect(left.sort()).toEqual([recent, kept].sort());
    expect(left).not.toContain(expired);
    expect(await store.read(passportUses, gone as PassportId)).toHaveLength(1);
  });
});
