import { describe, expect, test } from "vitest";
import { activationById } from "../src/core/activations/activation.ts";
import { type HandMove, moveActivation, moveByHand, type OperatorMove } from "../src/core/activations/operator.ts";
import { activationQueue } from "../src/core/activations/queue.ts";
import { revealActivation } from "../src/core/activations/reveal.ts";
import { submitActivation } from "../src/core/activations/submit.ts";
import { purge } from "../src/core/erasure/purge.ts";
import { platformStatus } from "../src/core/insight/status.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import type { Read } from "../src/core/store/store.ts";
import {
  ACTIVATIONS,
  expectNoIdentity,
  iccid,
  kinds,
  request,
  startActivationPlatform,
} from "./support/activations.ts";
import { MINUTE, startCarrier, useHttpCarrier, withHttpCarrier } from "./support/carrier.ts";
import { importRecords, makeDrawable, passport } from "./support/passports.ts";

async function waiting() {
  const platform = await startActivationPlatform();
  const partner = await platform.caller();
  const id = await platform.submit(partner, { activation_date: "2026-03-02" });
  platform.clock.advance(5_000);
  await platform.work();
  const move = (given: OperatorMove) => platform.store.write(moveActivation, { id, move: given, actor: "operator" });
  return { ...platform, partner, id, move };
}

describe("by hand", () => {
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.catch((it: unknown) => it);
    if (!(error instanceof Problem)) throw new Error(`not refused: ${String(error)}`);
    return error;
  };

  test("requests of a manual carrier wait for staff without a time limit; no call is made", async () => {
    const { id, work, clock, store, show, partner } = await waiting();
    expect(await show(partner, id)).toMatchObject({ status: "processing", processing_status: "processing" });
    clock.advance(50 * MINUTE);
    expect(await work()).toEqual({ released: 0, pickedUp: 0, exchanged: 0, overdue: 0 });
    const { data } = await store.read(activationQueue, { limit: 10 });
    expect(data).toMatchObject([{ id, partner: "partner-1", processing_status: "processing", next_at: null }]);
    expectNoIdentity(data);
    const queues = async () => {
      const { queues } = await store.read(platformStatus, null);
      return queues.filter(({ queue }) => queue.startsWith("activations_")).map((one) => [one.waits_for, one.waiting]);
    };
    const staffs = [
      ["carrier", 0],
      ["staff", 1],
    ];
    expect(await queues()).toEqual(staffs);
    await store.write(moveActivation, { id, move: { verb: "confirm", confirmationNumber: "C-1" }, actor: "operator" });
    expect(await queues()).toEqual(staffs);
  });

  test("identity data for the portal is shown to staff alone, and the audit trail records it", async () => {
    const { id, store } = await waiting();
    const revealed = await store.write(revealActivation, { id, actor: "operator" });
    expect(revealed.identity?.reveal()).toMatchObject({ passport_no: "QX8342075", puk: "22542821", sim_last4: "9583" });
    expectNoIdentity(revealed);
    const audit = await store.read((q: Read) => q.db.select().from(q.t.auditEntries), null);
    const entry = audit.find(({ action }) => action === "activations.reveal");
    expect(entry).toMatchObject({
      target_id: id,
      actor: "operator",
      fields: expect.arrayContaining(["passport_no", "puk"]),
    });
    expectNoIdentity(audit);
  });

  test("confirm, then complete, emit the same events as a carrier's responses", async () => {
    const { id, move, show, partner, events, store } = await waiting();
    await move({ verb: "confirm", confirmationNumber: "P-1" });
    expect((await refusal(move({ verb: "confirm", confirmationNumber: "P-2" }))).slug).toBe("conflict");
    await move({ verb: "complete", mobileNumber: "+61491570157" });
    expect(await show(partner, id)).toMatchObject({
      status: "completed",
      confirmation_number: "P-1",
      mobile_number: "+61491570157",
    });
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.confirmed", "activation.activated"]);
    expect((await store.read(activationQueue, { limit: 10 })).data).toEqual([]);
    for (const verb of ["retry", "fail", "complete"] as const) {
      const given = { verb, mobileNumber: "+61491570157", errorType: "x", errorMessage: "x" } as OperatorMove;
      expect((await refusal(move(given))).message).toContain("completed");
    }
    // What is no number is named as one, whatever the state.
    for (const verb of ["complete", "correct"] as const) {
      const typed = { id, move: { verb, mobileNumber: "abc", iccid: null, activationCode: null }, actor: "operator" };
      const { slug, errors } = await refusal(store.write(moveByHand, typed));
      expect([slug, Object.keys(errors ?? {})]).toEqual(["validation", ["mobile"]]);
    }
  });

  test("fail is final and notifies the partner", async () => {
    const { id, move, show, partner, events } = await waiting();
    await move({ verb: "fail", errorType: "sim_blocked", errorMessage: "The portal says blocked, PUK 22542821." });
    expect(await show(partner, id)).toMatchObject({
      status: "failed",
      processing_status: "failed",
      error_type: "sim_blocked",
      error_message: "The portal says blocked, PUK [redacted].",
    });
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.failed"]);
  });

  test("after a carrier stops being manual, requests that wait for staff are sent by retry only", async () => {
    const { id, move, work, clock, store, show, partner } = await waiting();
    expect((await refusal(move({ verb: "retry" }))).slug).toBe("conflict");
    const carrier = await startCarrier();
    await useHttpCarrier(store, carrier.url);
    clock.advance(50 * MINUTE);
    await work();
    expect(carrier.asked).toHaveLength(0);
    await move({ verb: "retry" });
    await work();
    expect(carrier.asked).toMatchObject([{ reference: id }]);
    expect(await show(partner, id)).toMatchObject({ status: "processing" });
    // The carrier accepted it: there is nothing to retry.
    expect((await refusal(move({ verb: "retry" }))).slug).toBe("conflict");
  });

  test("what staff record is held to what a carrier may answer", async () => {
    const { id, store, show, partner } = await waiting();
    const record = (move: HandMove) => refusal(store.write(moveByHand, { id, move, actor: "operator" }));
    const errors = async (move: HandMove) => (await record(move)).errors;
    const [long, name] = ["x".repeat(501), "must be 1 to 64 letters, digits, dots, hyphens and underscores"];
    expect(await errors({ verb: "confirm", number: long })).toEqual({ number: ["must have 1 to 100 characters"] });
    expect(await errors({ verb: "confirm", number: " " })).toEqual({ number: ["must have 1 to 100 characters"] });
    const fail = { verb: "fail", errorType: "sim_blocked", errorMessage: "The SIM is blocked." } as const;
    expect(await errors({ ...fail, errorType: "SIM is blocked" })).toEqual({ error: [name] });
    expect(await errors({ ...fail, errorMessage: long })).toEqual({ message: ["must have 1 to 500 characters"] });
    expect(await errors({ ...fail, errorType: "", errorMessage: "" })).toMatchObject({ error: [name], message: {} });
    expect(await show(partner, id)).toMatchObject({ processing_status: "processing" });
    await store.write(moveByHand, { id, move: fail, actor: "operator" });
    expect(await show(partner, id)).toMatchObject({ status: "failed", error_type: "sim_blocked" });
  });

  test("no manual step is allowed before pick-up", async () => {
    const { store, partner, submit } = await waiting();
    const id = await submit(partner);
    const move: OperatorMove = { verb: "complete", mobileNumber: "+61491570157" };
    expect((await refusal(store.write(moveActivation, { id, move, actor: "operator" }))).slug).toBe("conflict");
  });
});

test("retention clears documents of old ended requests; their outcomes stay", async () => {
  const { id, move, store, clock, show, partner, submit } = await waiting();
  const open = await submit(partner);
  await move({ verb: "complete", mobileNumber: "+61491570157" });
  const cleared = async (before: number) => {
    return (await purge(store, { before, actor: "operator", dryRun: false })).activations;
  };
  expect(await cleared(clock.now())).toBe(0);
  expect(await cleared(clock.now() + 1)).toBe(1);
  expect(await cleared(clock.now() + 1)).toBe(0);
  expect((await store.write(revealActivation, { id, actor: "operator" })).identity).toBeNull();
  expect((await store.write(revealActivation, { id: open, actor: "operator" })).identity).not.toBeNull();
  expect(await show(partner, id)).toMatchObject({ status: "completed", customer_name: "", mobile_number: null });
  expect(await show(partner, open)).toMatchObject({ status: "pending", customer_name: "Philippa Underwold" });
});

describe("manual_required", () => {
  async function exhausted() {
    const started = await withHttpCarrier();
    const { carrier, due, work, clock, store } = started;
    carrier.answers({ status: 503, body: {} });
    const sim = iccid();
    const id = await due({ iccid: sim });
    for (const minutes of [0, 1, 2, 4, 8, 16]) {
      clock.advance(minutes * MINUTE);
      await work();
    }
    const move = (given: OperatorMove) => store.write(moveActivation, { id, move: given, actor: "operator" });
    return { ...started, id, sim, move };
  }

  test("retry sends the request again at once, with all attempts ahead", async () => {
    const { id, move, work, show, partner, carrier, clock, events } = await exhausted();
    expect(await move({ verb: "retry" })).toMatchObject({ status: "processing", error_type: null });
    expect((await work()).exchanged).toBe(1);
    clock.advance(MINUTE);
    carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156" } });
    await work();
    expect(await show(partner, id)).toMatchObject({ status: "completed" });
    expect(new Set(carrier.asked.map(({ reference }) => reference)).size).toBe(1);
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.activated"]);
  });

  test("retry makes a delayed attempt due at once, and ends the outage", async () => {
    const { carrier, due, work, store, clock, show, partner } = await withHttpCarrier();
    carrier.answers({ status: 503, body: {} });
    const id = await due();
    const began = clock.now();
    await work();
    const outages = async () => (await store.read(platformStatus, null)).outages;
    expect(await outages()).toMatchObject([
      {
        kind: "carrier",
        name: "896103",
        failures: 1,
        last_error: "it answered 503",
        waiting: 1,
        next_attempt_at: new Date(began + MINUTE).toISOString(),
      },
    ]);
    carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156" } });
    expect((await work()).exchanged).toBe(0);
    await store.write(moveActivation, { id, move: { verb: "retry" }, actor: "operator" });
    expect((await work()).exchanged).toBe(1);
    expect(await show(partner, id)).toMatchObject({ status: "completed" });
    expect(await outages()).toEqual([]);
  });

  test("complete and fail end the request; only fail emits activation.failed and frees the ICCID", async () => {
    const { move, events, id } = await exhausted();
    await move({ verb: "complete", mobileNumber: "+61491570156" });
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.activated"]);
    const other = await exhausted();
    await other.move({ verb: "fail", errorType: "gave_up", errorMessage: "The carrier is gone." });
    expect(kinds(await other.events(other.id))).toEqual(["activation.submitted", "activation.failed"]);
    expect((await other.partner.send("POST", ACTIVATIONS, request({ iccid: other.sim }))).status).toBe(201);
  });
});

test("a draw is kept while staff decide, and is released by failure or cancellation", async () => {
  const { store, clock, work, caller } = await startActivationPlatform({ adapter: "simulator" });
  const partner = await caller({ agent: true });
  await makeDrawable(store, await importRecords(partner, [passport()]));
  const uses = async () => {
    const rows = await store.read((q: Read) => q.db.select().from(q.t.passportUses), null);
    return rows.filter((row) => row.released_at === null).length;
  };
  const draw = async (ending: string, date: string) => {
    const line = { iccid: iccid("a", ending), activation_date: date, sim_last4: "1234", puk: "87654321" };
    const { partnerId } = partner;
    const owner = { partnerId, environment: "sandbox" } as const;
    return (await store.write(submitActivation, { ...owner, request: line, actor: "operator", draw: true })).id;
  };
  const [refused, stuck] = [await draw("11", "2026-03-02"), await draw("22", "2026-03-02")];
  const cancelled = await draw("00", "2026-03-10");
  expect(await uses()).toBe(3);
  await partner.send("POST", `${ACTIVATIONS}/${cancelled}/cancel`);
  expect(await uses()).toBe(2);
  clock.advance(5_000);
  await work();
  expect(await uses()).toBe(1);
  for (const minutes of [1, 2, 4, 8, 16]) {
    clock.advance(minutes * MINUTE);
    await work();
  }
  expect((await store.read(activationById, refused))?.processing_status).toBe("failed");
  expect((await store.read(activationById, stuck))?.processing_status).toBe("manual_required");
  expect(await uses()).toBe(1);
  const move: OperatorMove = { verb: "fail", errorType: "gave_up", errorMessage: "The carrier is gone." };
  await store.write(moveActivation, { id: stuck, move, actor: "operator" });
  expect(await uses()).toBe(0);
});
