import { describe, expect, test } from "vitest";
import type { Read } from "../src/core/store/store.ts";
import { ACTIVATIONS, expectNoIdentity, iccid, startActivationPlatform } from "./support/activations.ts";
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

describe("edit", () => {
  test("changes date and note, recomputes the mode, and is audited by field names", async () => {
    const { partner, submit, store } = await withPartner();
    const id = await submit(partner);
    const edit = { requested_activation_date: "2026-03-02", note: "sooner" };
    const { status, body } = await partner.send("PATCH", `${ACTIVATIONS}/${id}`, edit);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, activation_date: "2026-03-02", note: "sooner", processing_mode: "immediate" });
    expect(body).toHaveProperty("submitted_at");
    const cleared = await partner.send("PATCH", `${ACTIVATIONS}/${id}`, { note: null });
    expect(cleared.body).toMatchObject({ note: null, activation_date: "2026-03-02" });
    expect(await store.read(auditOf, id)).toMatchObject([
      {
        action: "activations.edit",
        fields: ["requested_activation_date", "note"],
        actor: `client:${partner.clientId}`,
      },
      { action: "activations.edit", fields: ["note"] },
    ]);
    expectNoIdentity(await store.read(auditOf, id));
  });

  test("an edit by ICCID does the same; without an open request it is a 404", async () => {
    const { partner, submit } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    const { status, body } = await partner.send("PATCH", `${ACTIVATIONS}/by-iccid/${sim}`, { note: "x" });
    expect([status, body.id]).toEqual([200, id]);
    const cleared = { requested_activation_date: null, note: "y" };
    const refused = await partner.send("PATCH", `${ACTIVATIONS}/by-iccid/${sim}`, cleared);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, ["requested_activation_date"]]);
    for (const strange of [iccid(), "nonsense"]) {
      expect((await partner.send("PATCH", `${ACTIVATIONS}/by-iccid/${strange}`, { note: "x" })).status).toBe(404);
    }
  });

  test("an empty edit and invalid dates are a 400", async () => {
    const { partner, submit } = await withPartner();
    const id = await submit(partner);
    const patch = (body: unknown) => partner.send("PATCH", `${ACTIVATIONS}/${id}`, body);
    for (const body of [{}, { status: "cancelled" }]) expect(slugOf(await patch(body))).toBe("validation");
    const cleared = await patch({ requested_activation_date: null, note: "x" });
    expect([slugOf(cleared), cleared.body.errors]).toEqual([
      "validation",
      { requested_activation_date: ["cannot be cleared"] },
    ]);
    expect(slugOf(await patch({ requested_activation_date: "soon" }))).toBe("validation");
    for (const requested_activation_date of ["2026-03-01", "2026-02-30"]) {
      expect(slugOf(await patch({ requested_activation_date, note: "x" }))).toBe("invalid_activation_date");
    }
    const expired = await patch({ requested_activation_date: "2029-12-21" });
    expect(expired.body.errors).toEqual({ requested_activation_date: [expect.any(String)] });
  });

  test("a change of the note alone, or to the same date, skips the date check", async () => {
    const { partner: before, credential, submit, clock, show } = await withPartner();
    const id = await submit(before);
    clock.set("2026-03-20T01:00:00.000Z");
    const partner = await credential("partner-1", {});
    const body = { requested_activation_date: "2026-03-10", note: "still" };
    expect((await partner.send("PATCH", `${ACTIVATIONS}/${id}`, { note: "x" })).status).toBe(200);
    expect((await partner.send("PATCH", `${ACTIVATIONS}/${id}`, body)).status).toBe(200);
    expect(await show(partner, id)).toMatchObject({ note: "still", processing_mode: "scheduled" });
  });

  test("an edit after pick-up is a 409 that names the public status, by id and by ICCID", async () => {
    const { partner, submit, clock, work } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim, activation_date: "2026-03-02" });
    clock.advance(5_000);
    await work();
    for (const path of [id, `by-iccid/${sim}`]) {
      const edit = await partner.send("PATCH", `${ACTIVATIONS}/${path}`, { note: "x" });
      expect([edit.status, slugOf(edit), edit.body.current_status]).toEqual([409, "not_editable", "processing"]);
      const cancel = await partner.send("POST", `${ACTIVATIONS}/${path}/cancel`);
      expect([cancel.status, slugOf(cancel), cancel.body.current_status]).toEqual([
        409,
        "not_cancellable",
        "processing",
      ]);
      expect(cancel.body.detail).toContain("processing");
    }
  });
});

describe("cancel", () => {
  test("returns the detail record, stores the reason, frees the ICCID", async () => {
    const { partner, submit, store, events } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    const { status, body } = await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`, { reason: "typo" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: "cancelled", cancelled_at: "2026-03-02T01:00:00.000Z" });
    expect(await store.read(auditOf, id)).toMatchObject([
      { action: "activations.cancel", fields: ["status", "cancel_reason"], note: null },
    ]);
    expect(await events(id)).toEqual([]);
    await submit(partner, { iccid: sim });
  });

  test("a second cancellation is a 409 by id, a 404 by ICCID; the body is optional and validated", async () => {
    const { partner, submit } = await withPartner();
    const sim = iccid();
    const id = await submit(partner, { iccid: sim });
    expect((await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`, { reason: "r".repeat(501) })).status).toBe(400);
    expect((await partner.send("POST", `${ACTIVATIONS}/by-iccid/${sim}/cancel`, { reason: null })).status).toBe(200);
    const again = await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`);
    expect([again.status, again.body.current_status]).toEqual([409, "cancelled"]);
    expect((await partner.send("POST", `${ACTIVATIONS}/by-iccid/${sim}/cancel`)).status).toBe(404);
  });
});

describe("bulk", () => {
  test("cancel: ids, then ICCIDs, each independently and in order", async () => {
    const { partner, caller, submit, clock, work } = await withPartner();
    const [mine, byIccid, taken] = [iccid(), iccid(), iccid()];
    const taken_id = await submit(partner, { iccid: taken, activation_date: "2026-03-02" });
    const foreign = await submit(await caller());
    clock.advance(5_000);
    await work();
    const id = await submit(partner, { iccid: mine });
    const other = await submit(partner, { iccid: byIccid });
    const missing = crypto.randomUUID();
    const { status, body } = await partner.send("POST", `${ACTIVATIONS}/bulk/cancel`, {
      activation_ids: [id, foreign, id, taken_id, missing],
      iccids: [byIccid, byIccid, taken, "x"],
    });
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { activation_id: id, status: "cancelled", activation: expect.objectContaining({ id, status: "cancelled" }) },
      { activation_id: foreign, status: "failed", reason: "not_found" },
      { activation_id: id, status: "failed", reason: "not_cancellable:cancelled" },
      { activation_id: taken_id, status: "failed", reason: "not_cancellable:processing" },
      { activation_id: missing, status: "failed", reason: "not_found" },
      { iccid: byIccid, status: "cancelled", activation: expect.objectContaining({ id: other }) },
      { iccid: byIccid, status: "failed", reason: "not_found" },
      { iccid: taken, status: "failed", reason: "not_cancellable:processing" },
      { iccid: "x", status: "failed", reason: "not_found" },
    ]);
    expect(body.summary).toEqual({ total: 9, successful: 2, failed: 7 });
    expectNoIdentity(body);
  });

  test("reschedule: each item's outcome has its reason", async () => {
    const { partner, submit, show } = await withPartner();
    const [one, two, three] = [iccid(), iccid(), iccid()];
    const id = await submit(partner, { iccid: one });
    await submit(partner, { iccid: two });
    const short = await submit(partner, { iccid: three, passport_expiry: "2026-03-15" });
    const cancelled = await submit(partner);
    await partner.send("POST", `${ACTIVATIONS}/${cancelled}/cancel`);
    const day = (requested_activation_date: string) => ({ requested_activation_date });
    const { status, body } = await partner.send("POST", `${ACTIVATIONS}/bulk/reschedule`, {
      items: [
        { activation_id: id, ...day("2026-03-12") },
        { activation_id: id, ...day("2026-03-12") },
        { iccid: two, ...day("2026-02-30") },
        { iccid: two, ...day("2026-03-01") },
        { activation_id: short, ...day("2026-03-16") },
        { activation_id: cancelled, note: "x" },
        { iccid: iccid(), note: "x" },
        { iccid: two, note: null },
      ],
    });
    expect(status).toBe(200);
    const outcomes = body.results.map((one: { status: string; reason?: string }) => one.reason ?? one.status);
    expect(outcomes).toEqual([
      "rescheduled",
      "rescheduled",
      "invalid_activation_date",
      "invalid_activation_date",
      "passport_expired",
      "not_editable:cancelled",
      "not_found",
      "rescheduled",
    ]);
    expect(body.summary).toEqual({ total: 8, successful: 3, failed: 5 });
    expect(body.results[0].activation).toMatchObject({ id, activation_date: "2026-03-12" });
    expect(await show(partner, short)).toMatchObject({ activation_date: "2026-03-10" });
  });

  test("an invalid body is a 400 for the whole request, and changes nothing", async () => {
    const { partner, submit, show } = await withPartner();
    const id = await submit(partner);
    const many = Array.from({ length: 201 }, () => iccid());
    const cancels = [
      {},
      { activation_ids: [], iccids: [] },
      { iccids: many },
      { activation_ids: [id], iccids: many.slice(1) },
      { activation_ids: [id, "x"] },
      { activation_ids: id },
    ];
    for (const body of cancels) {
      expect((await partner.send("POST", `${ACTIVATIONS}/bulk/cancel`, body)).status).toBe(400);
    }
    const changes: { items?: Record<string, unknown>[] }[] = [
      {},
      { items: [] },
      { items: many.map((one) => ({ iccid: one, note: "x" })) },
      { items: [{ note: "x" }] },
      { items: [{ activation_id: id, iccid: many[0], note: "x" }] },
      { items: [{ activation_id: id }] },
      { items: [{ activation_id: id, requested_activation_date: "1.1.2027" }] },
    ];
    for (const body of changes) {
      const good = { activation_id: id, note: "changed" };
      const items = body.items?.length === 1 ? [good, ...body.items] : body.items;
      expect((await partner.send("POST", `${ACTIVATIONS}/bulk/reschedule`, { items })).status).toBe(400);
    }
    expect(await show(partner, id)).toMatchObject({ status: "pending", note: null });
  });

  test("200 items are accepted; without an agent record the request is a 422", async () => {
    const { partner, caller, submit } = await withPartner();
    const iccids = [];
    for (let n = 0; n < 200; n++) iccids.push(iccid());
    for (const one of iccids.slice(0, 20)) await submit(partner, { iccid: one });
    const { body } = await partner.send("POST", `${ACTIVATIONS}/bulk/cancel`, { iccids });
    expect(body.summary).toEqual({ total: 200, successful: 20, failed: 180 });
    const plain = await caller();
    const cancel = await plain.send("POST", `${ACTIVATIONS}/bulk/cancel`, { iccids });
    const change = await plain.send("POST", `${ACTIVATIONS}/bulk/reschedule`, { items: [{ iccid: "1", note: "x" }] });
    expect([cancel, change].map((one) => [one.status, slugOf(one)])).toEqual(Array(2).fill([422, "no_agent_record"]));
  });
});
