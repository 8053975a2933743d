import { describe, expect, test } from "vitest";
import { requireActivation } from "../src/core/activations/activation.ts";
import { openKyc } from "../src/core/activations/identity.ts";
import type { Read } from "../src/core/store/store.ts";
import { ACTIVATIONS, expectNoIdentity, request, startActivationPlatform } from "./support/activations.ts";
import { importRecords, makeDrawable, passport } from "./support/passports.ts";
import type { Caller, Reply } from "./support/platform.ts";

const slugOf = ({ body }: Reply): string => String(body.type).split("/").at(-1) ?? "";
const auditOf = async (q: Read, id: string) =>
  (await q.db.select().from(q.t.auditEntries)).filter((entry) => entry.target_id === id);

async function withPartner() {
  const platform = await startActivationPlatform();
  const partner = await platform.caller({ agent: true });
  const submitted = async (fields: Record<string, unknown> = {}) => {
    const sent = request(fields);
    const { status, body } = await partner.send("POST", ACTIVATIONS, sent);
    expect(status).toBe(201);
    return { sent, id: body.id };
  };
  const identityOf = async (id: string) =>
    platform.store.read(async (q) => openKyc(q, await requireActivation(q, id as never))?.reveal(), null);
  /** Hands what is due to the carrier. */
  const run = async () => {
    platform.clock.advance(10_000);
    expect((await platform.work()).pickedUp).toBe(1);
  };
  return { ...platform, partner, submitted, identityOf, run };
}

describe("a submission of the same ICCID and date", () => {
  const changes: [string, unknown][] = [
    ["passport_no", "QX8342076"],
    ["first_name", "Philip"],
    ["last_name", "Underwood"],
    ["date_of_birth", "1964-07-17"],
    ["passport_country", "IRL"],
    ["passport_expiry", "2029-12-21"],
    ["address", "5 Currawong Drive"],
    ["state", "ACT"],
    ["sim_last4", "9584"],
    ["puk", "22542822"],
    ["customer_email", "philip@example.com"],
    ["plan_name", "Visitor"],
    ["note", "late"],
  ];
  test.each(changes)("that has another %s is refused with the name of the field", async (field, value) => {
    const { partner, submitted, identityOf } = await withPartner();
    const { sent, id } = await submitted();
    const before = await identityOf(id);
    const again = await partner.send("POST", ACTIVATIONS, { ...sent, [field]: value });
    expect([again.status, slugOf(again), again.body.differs]).toEqual([409, "duplicate", [field]]);
    expect(again.body).toMatchObject({ current_status: "pending", detail: expect.stringContaining("Correct the id") });
    expectNoIdentity(again.body);
    const bulk = await partner.send("POST", `${ACTIVATIONS}/bulk`, { lines: [{ ...sent, [field]: value }, sent] });
    expect(bulk.body.results).toMatchObject([
      { status: "failed", reason: "differs", message: expect.stringContaining(field) },
      { status: "submitted", replayed: true },
    ]);
    expect(await identityOf(id)).toEqual(before);
  });

  test("that says the same in another spelling, or less, is a duplicate", async () => {
    const { partner, submitted } = await withPartner();
    const { sent } = await submitted();
    const { address: _, customer_email: __, ...less } = sent;
    for (const line of [{ ...sent, passport_no: "qx 834-2075", passport_country: "GB" }, sent]) {
      const again = await partner.send("POST", ACTIVATIONS, line);
      expect([again.status, slugOf(again), again.body.differs]).toEqual([409, "duplicate", undefined]);
    }
    const { body } = await partner.send("POST", `${ACTIVATIONS}/bulk`, { lines: [{ ...less, address: sent.address }] });
    expect(body.results).toMatchObject([{ status: "submitted", replayed: true }]);
  });

  test("names the carrier's part once it is processing, and nothing of another partner's", async () => {
    const { partner, submitted, caller, run } = await withPartner();
    const { sent } = await submitted({ activation_date: "2026-03-02" });
    await run();
    const other = { ...sent, passport_no: "QX8342076" };
    const again = await partner.send("POST", ACTIVATIONS, other);
    expect(again.body).toMatchObject({ differs: ["passport_no"], detail: expect.stringContaining("(processing)") });
    const stranger = await caller({ slug: "globex" });
    expect((await stranger.send("POST", ACTIVATIONS, other)).body.differs).toBeUndefined();
  });

  test("that draws from the pool again is a duplicate, whatever passport was drawn", async () => {
    const { partner, store } = await withPartner();
    const { passport_no: _, ...line } = request({ first_name: "Quentin" });
    await drawable(partner, store);
    const lines = { lines: [line] };
    expect((await partner.send("POST", `${ACTIVATIONS}/bulk`, lines)).body.results[0]).toMatchObject({
      replayed: false,
    });
    expect((await partner.send("POST", `${ACTIVATIONS}/bulk`, lines)).body.results[0]).toMatchObject({
      replayed: true,
    });
    const named = { lines: [{ ...line, passport_no: "ZZ1234567" }] };
    expect((await partner.send("POST", `${ACTIVATIONS}/bulk`, named)).body.results[0]).toMatchObject({
      status: "failed",
      reason: "differs",
    });
  });
});

async function drawable(partner: Caller, store: Parameters<typeof makeDrawable>[0]): Promise<void> {
  await makeDrawable(store, await importRecords(partner, [passport()]));
}

describe("a correction of the identity", () => {
  test("merges the fields that it names, by ID and by ICCID, and is audited by their names", async () => {
    const { partner, submitted, identityOf, store } = await withPartner();
    const { sent, id } = await submitted();
    const first = await partner.send("PATCH", `${ACTIVATIONS}/${id}/identity`, {
      passport_no: "QX8342076",
      last_name: " Underwood ",
      suburb: null,
      customer_email: "philip@example.com",
    });
    expect([first.status, first.body.customer_name]).toEqual([200, "Philippa Underwood"]);
    expect(first.body.customer_email).toBe("philip@example.com");
    expectNoIdentity(first.body);
    const path = `${ACTIVATIONS}/by-iccid/${sent.iccid}/identity`;
    expect((await partner.send("PATCH", path, { passport_country: "IE" })).status).toBe(200);
    const now = { passport_no: "QX8342076", last_name: "Underwood", suburb: null, passport_country: "IRL" };
    expect(await identityOf(id)).toMatchObject({ ...now, puk: sent.puk, first_name: sent.first_name });
    const entries = (await store.read((q) => auditOf(q, id), null)).filter(({ action }) =>
      /edit_identity/.test(action),
    );
    expect(entries.map(({ fields }) => fields)).toEqual([
      ["last_name", "passport_no", "suburb", "customer_email"],
      ["passport_country"],
    ]);
    expect(JSON.stringify(entries)).not.toContain("QX8342076");
    // The corrected submission is a duplicate from now on.
    const corrected = { ...sent, ...now, suburb: undefined, customer_email: "philip@example.com" };
    expect((await partner.send("POST", ACTIVATIONS, corrected)).body.differs).toBeUndefined();
  });

  test("is checked as a submission is", async () => {
    const { partner, submitted, identityOf } = await withPartner();
    const { id } = await submitted();
    const before = await identityOf(id);
    const cases: [object, string][] = [
      [{}, "validation"],
      [{ unknown: "x" }, "validation"],
      [{ passport_no: "!" }, "validation"],
      [{ passport_expiry: "2026-03-09" }, "validation"],
      [{ date_of_birth: "2027-01-01" }, "validation"],
      [{ passport_no: null }, "missing_kyc"],
      [{ puk: "" }, "missing_kyc"],
    ];
    for (const [body, slug] of cases) {
      const answer = await partner.send("PATCH", `${ACTIVATIONS}/${id}/identity`, body);
      expect([body, answer.status, slugOf(answer)]).toEqual([body, 400, slug]);
    }
    expect(await identityOf(id)).toEqual(before);
  });

  test("is refused once the carrier has the request, and for another partner's", async () => {
    const { partner, submitted, caller, run } = await withPartner();
    const { id } = await submitted({ activation_date: "2026-03-02" });
    const stranger = await caller({ slug: "globex" });
    const edit = { last_name: "Underwood" };
    expect((await stranger.send("PATCH", `${ACTIVATIONS}/${id}/identity`, edit)).status).toBe(404);
    await run();
    const late = await partner.send("PATCH", `${ACTIVATIONS}/${id}/identity`, edit);
    expect([late.status, slugOf(late), late.body.current_status]).toEqual([409, "not_editable", "processing"]);
  });

  test("gives a drawn passport back where another document replaces it", async () => {
    const { partner, store } = await withPartner();
    await drawable(partner, store);
    const { passport_no: _, ...line } = request();
    const { body } = await partner.send("POST", `${ACTIVATIONS}/bulk`, { lines: [line] });
    const id = body.results[0].activation.id;
    const uses = (q: Read) => q.db.select({ n: q.t.passports.use_count }).from(q.t.passports);
    expect(await store.read(uses, null)).toEqual([{ n: 1 }]);
    expect((await partner.send("PATCH", `${ACTIVATIONS}/${id}/identity`, { address: "5 Elm Road" })).status).toBe(200);
    expect(await store.read(uses, null)).toEqual([{ n: 1 }]);
    expect((await partner.send("PATCH", `${ACTIVATIONS}/${id}/identity`, { passport_no: "ZZ1" })).status).toBe(200);
    expect(await store.read(uses, null)).toEqual([{ n: 0 }]);
    // Cancelled, it gives nothing back once more.
    expect((await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`)).status).toBe(200);
    expect(await store.read(uses, null)).toEqual([{ n: 0 }]);
  });
});
