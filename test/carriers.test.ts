import { describe, expect, test } from "vitest";
import { claimExchanges } from "../src/core/activations/carrier-exchange.ts";
import { pickUpDue } from "../src/core/activations/pickup.ts";
import { activationQueue } from "../src/core/activations/queue.ts";
import { attemptsOfActivation } from "../src/core/activations/reveal.ts";
import { listCarriers } from "../src/core/carriers/carrier.ts";
import { setCarrier } from "../src/core/carriers/set.ts";
import { findStory } from "../src/core/find/find.ts";
import type { ActivationId } from "../src/core/kernel/brand.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import type { Read } from "../src/core/store/store.ts";
import { signatureFault } from "../src/core/webhooks/signature.ts";
import {
  ACTIVATIONS,
  expectNoIdentity,
  iccid,
  kinds,
  request,
  startActivationPlatform,
} from "./support/activations.ts";
import { CARRIER_SECRET, callBack, MINUTE, useHttpCarrier, withHttpCarrier } from "./support/carrier.ts";

const attempts = async (q: Read, id: ActivationId) => (await attemptsOfActivation(q, id)).map((one) => one.outcome);

describe("the exchange", () => {
  test("sends every field the carrier requires, signed, under the request's id", async () => {
    const { carrier, due, work, clock, url } = await withHttpCarrier();
    const sim = iccid();
    const id = await due({ iccid: sim, plan_name: "Visitor", note: "for us only" });
    expect(await work()).toEqual({ released: 0, pickedUp: 1, exchanged: 1, overdue: 0 });
    const [asked] = carrier.asked;
    expect(asked?.body).toEqual({
      reference: id,
      iccid: sim,
      activation_date: "2026-03-02",
      plan_name: "Visitor",
      identity: {
        first_name: "Philippa",
        last_name: "Underwold",
        title: null,
        date_of_birth: "1964-07-16",
        passport_no: "QX8342075",
        passport_country: "GBR",
        passport_expiry: "2029-12-20",
        address: "4 Currawong Drive",
        suburb: "Braddon",
        state: null,
        postcode: null,
      },
      sim: { last4: "9583", puk: "22542821" },
      callback_url: `${url}/api/v1/callbacks/carriers/896103`,
    });
    expect(asked?.reference).toBe(id);
    expect(asked?.headers["content-type"]).toBe("application/json");
    const delivery = { secret: CARRIER_SECRET, header: asked?.signature ?? "", body: asked?.raw ?? "" };
    expect(signatureFault(delivery, clock.now())).toBeNull();
  });

  test("activated at once: completed with its number, two events in order", async () => {
    const { carrier, due, work, show, partner, events } = await withHttpCarrier();
    carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156", confirmation_number: "C-1" } });
    const id = await due();
    await work();
    expect(await show(partner, id)).toMatchObject({
      status: "completed",
      processing_status: "completed",
      mobile_number: "+61491570156",
      confirmation_number: "C-1",
      error_type: null,
      submitted_at: "2026-03-02T01:00:05.000Z",
      activated_at: "2026-03-02T01:00:05.000Z",
    });
    const about = {
      id,
      iccid: expect.any(String),
      carrier: "Carrier A (Australia)",
      activation_date: "2026-03-02",
      customer_name: "Philippa Underwold",
    };
    const happened = await events(id);
    expect(happened).toEqual([
      {
        kind: "activation.submitted",
        environment: "sandbox",
        data: {
          ...about,
          status: "processing",
          processing_status: "processing",
          submitted_at: "2026-03-02T01:00:05.000Z",
        },
      },
      {
        kind: "activation.activated",
        environment: "sandbox",
        data: {
          ...about,
          status: "completed",
          processing_status: "completed",
          mobile_number: "+61491570156",
          confirmation_number: "C-1",
          activated_at: "2026-03-02T01:00:05.000Z",
        },
      },
    ]);
    expectNoIdentity(happened);
  });

  test("after a completed activation the ICCID is a duplicate for every partner", async () => {
    const { carrier, due, work, partner } = await withHttpCarrier();
    carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156" } });
    const sim = iccid();
    await due({ iccid: sim });
    await work();
    expect((await partner.send("POST", ACTIVATIONS, request({ iccid: sim }))).status).toBe(409);
  });

  test("a refusal is final, with a 2xx or a 4xx; identity data that the carrier repeats is redacted", async () => {
    const { carrier, due, work, show, partner, events, store } = await withHttpCarrier();
    const error_message = "Passport qx-834 2075 of 16/07/1964, PUK 22542821, at 4 Currawong Drive: no match";
    for (const status of [200, 422]) {
      carrier.answers({
        status,
        body: { outcome: "refused", error_type: "no_match", error_message, extra: "QX8342075" },
      });
      const sim = iccid();
      const id = await due({ iccid: sim });
      await work();
      const record = await show(partner, id);
      const message = "Passport [redacted] of [redacted], PUK [redacted], at [redacted]: no match";
      expect(record).toMatchObject({ status: "failed", error_type: "no_match", error_message: message });
      const happened = await events(id);
      expect(happened.at(-1)).toMatchObject({
        kind: "activation.failed",
        data: { status: "failed", processing_status: "failed", error_type: "no_match", failed_at: expect.any(String) },
      });
      const kept = await store.read(attemptsOfActivation, id);
      expect(kept).toMatchObject([{ source: "request", outcome: "refused", status_code: status }]);
      expectNoIdentity([record, happened, kept]);
      // The ICCID is free again.
      expect((await partner.send("POST", ACTIVATIONS, request({ iccid: sim }))).status).toBe(201);
    }
  });

  test.each<[string, Parameters<Awaited<ReturnType<typeof withHttpCarrier>>["carrier"]["answers"]>[0]]>([
    ["a fault of its own", { status: 500, body: { outcome: "activated", mobile_number: "+61491570156" } }],
    ["too many requests", { status: 429, body: { outcome: "refused" } }],
    ["not signed in", { status: 401, body: { error: "who are you" } }],
    ["an unknown outcome", { body: { outcome: "perhaps" } }],
    ["activated without a number", { body: { outcome: "activated" } }],
    ["no JSON", (response) => response.end("<html>busy</html>")],
    ["an answer without end", (response) => void response.write("x".repeat(100_000))],
    ["a redirect", (response) => void response.writeHead(307, { location: "/elsewhere" }).end()],
    ["a broken connection", (response) => void response.destroy()],
    ["no answer in time", () => undefined],
  ])("%s is a temporary fault: asked again under the same reference", async (_name, answer) => {
    const { carrier, due, work, show, partner, clock, events, store } = await withHttpCarrier();
    carrier.answers(answer);
    await useHttpCarrier(store, carrier.url, { timeout_ms: 500 });
    const id = await due();
    await work();
    expect(await show(partner, id)).toMatchObject({ status: "processing", processing_status: "processing" });
    await useHttpCarrier(store, carrier.url);
    carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156" } });
    clock.advance(MINUTE - 1);
    expect((await work()).exchanged).toBe(0);
    clock.advance(1);
    await work();
    expect(await show(partner, id)).toMatchObject({ status: "completed", error_type: null });
    expect(new Set(carrier.asked.map(({ reference }) => reference))).toEqual(new Set([id]));
    expect(carrier.asked).toHaveLength(2);
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.activated"]);
  });

  test("requests to a failing carrier are retried after 1, 2, 4, 8 and 16 minutes, then left to staff", async () => {
    const { carrier, due, work, show, partner, clock, events, store } = await withHttpCarrier();
    carrier.answers({ status: 503, body: {} });
    const sim = iccid();
    const id = await due({ iccid: sim });
    const tries = [(await work()).exchanged];
    for (const minutes of [1, 2, 4, 8, 16]) {
      clock.advance(minutes * MINUTE - 1);
      expect((await work()).exchanged).toBe(0);
      clock.advance(1);
      tries.push((await work()).exchanged);
    }
    expect(tries).toEqual([1, 1, 1, 1, 1, 1]);
    const record = await show(partner, id);
    expect(record).toMatchObject({
      status: "failed",
      processing_status: "manual_required",
      error_type: expect.any(String),
    });
    expect(kinds(await events(id))).toEqual(["activation.submitted"]);
    expect((await partner.send("POST", ACTIVATIONS, request({ iccid: sim }))).status).toBe(409);
    expect((await store.read(activationQueue, { limit: 10 })).data).toMatchObject([{ id, partner: "partner-1" }]);
    expect(carrier.asked.every(({ reference }) => reference === id)).toBe(true);
  });

  test("a carrier that does not respond delays no other carrier's requests", async () => {
    const { carrier, due, work, show, partner, store, submit } = await withHttpCarrier();
    await store.write(setCarrier, { prefix: "58", settings: { adapter: "simulator" }, actor: "test" });
    const unanswered = new Promise<{ destroy(): void }>((resolve) => carrier.answers(resolve));
    const quick = await submit(partner, { iccid: iccid("b", "11"), activation_date: "2026-03-02", title: "Ms" });
    const slow = await due();
    const working = work();
    await expect.poll(async () => (await show(partner, quick)).status).toBe("failed");
    expect(await show(partner, slow)).toMatchObject({ status: "processing" });
    (await unanswered).destroy();
    await working;
  });

  test("work of a killed worker is taken over when its lease expires, under the same reference", async () => {
    const { carrier, due, work, show, partner, clock, store, again } = await withHttpCarrier();
    const id = await due();
    // Claimed by a process that ended.
    const other = await again();
    await other.write(pickUpDue, { environment: "sandbox", limit: 10 });
    expect(await other.write(claimExchanges, { environment: "sandbox", carrier: "896103", room: 10 })).toMatchObject([
      { id },
    ]);
    expect((await work()).exchanged).toBe(0);
    clock.advance(MINUTE);
    carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156" } });
    expect((await work()).exchanged).toBe(1);
    expect(await show(partner, id)).toMatchObject({ status: "completed" });
    expect(carrier.asked).toMatchObject([{ reference: id }]);
    expect(await store.read(attempts, id)).toEqual(["activated"]);
  });
});

describe("callbacks", () => {
  async function accepted() {
    const started = await withHttpCarrier();
    const id = await started.due();
    await started.work();
    const back = (body: Record<string, unknown>, now = started.clock.now()) =>
      callBack(started.url, { body: { reference: id, ...body }, now });
    return { ...started, id, back };
  }

  test("confirm, then activate; repeated or late callbacks change nothing", async () => {
    const { id, back, show, partner, events, store } = await accepted();
    const confirmed = { outcome: "confirmed", confirmation_number: "C-7" };
    const first = await back(confirmed);
    expect(first.body).toEqual({ ok: true, applied: true });
    const story = await store.read(findStory, first.headers.get("x-request-id") ?? "");
    expect(story.matched).toMatchObject([{ kind: "activation", id }]);
    expect(await show(partner, id)).toMatchObject({ status: "processing", processing_status: "confirmed" });
    await back(confirmed);
    const activated = { outcome: "activated", mobile_number: "+61491570156" };
    expect((await back(activated)).body).toEqual({ ok: true, applied: true });
    for (const late of [activated, confirmed, { outcome: "refused" }, { outcome: "accepted" }]) {
      expect((await back(late)).body).toEqual({ ok: true, applied: false });
    }
    expect(await show(partner, id)).toMatchObject({
      status: "completed",
      confirmation_number: "C-7",
      mobile_number: "+61491570156",
      confirmed_at: expect.any(String),
    });
    const happened = await events(id);
    expect(kinds(happened)).toEqual(["activation.submitted", "activation.confirmed", "activation.activated"]);
    expect(happened[1]?.data).toMatchObject({
      status: "processing",
      processing_status: "confirmed",
      confirmation_number: "C-7",
      confirmed_at: expect.any(String),
    });
  });

  test("a callback unsigned, wrongly signed, altered, old or of an unknown carrier is a 401", async () => {
    const { id, back, show, partner, clock, url } = await accepted();
    const body = { reference: id, outcome: "refused" };
    const path = `${url}/api/v1/callbacks/carriers/896103`;
    const json = { "content-type": "application/json" };
    const refused = [
      await fetch(path, { method: "POST", headers: json, body: JSON.stringify(body) }),
      await fetch(path, {
        method: "POST",
        headers: { ...json, "x-signature": "t=1,v1=00" },
        body: JSON.stringify(body),
      }),
      await callBack(url, { body, now: clock.now(), secret: "another secret of 32 characters" }),
      await callBack(url, { body, now: clock.now(), prefix: "58" }),
      await callBack(url, { body, now: clock.now(), prefix: "1234" }),
      await back({ outcome: "refused" }, clock.now() - 301_000),
      await back({ outcome: "refused" }, clock.now() + 302_000),
    ];
    expect(refused.map(({ status }) => status)).toEqual(Array(7).fill(401));
    expect(await show(partner, id)).toMatchObject({ status: "processing" });
    // Faults of a body are reported only to its signer.
    const unsigned = await fetch(path, { method: "POST", headers: json, body: '{"outcome":5}' });
    expect(unsigned.status).toBe(401);
  });

  test("a signed callback that is invalid is a 400, for another carrier's request a 404, too early a 409", async () => {
    const { back, url, clock, store, submit, partner } = await accepted();
    expect((await back({ outcome: "perhaps" })).status).toBe(400);
    expect((await back({ outcome: "activated" })).body.errors).toEqual({ mobile_number: [expect.any(String)] });
    const now = clock.now();
    const unknown = { reference: crypto.randomUUID(), outcome: "confirmed" };
    expect((await callBack(url, { body: unknown, now })).status).toBe(404);
    const settings = { adapter: "http", url: "http://127.0.0.1:9/", secret: CARRIER_SECRET } as const;
    await store.write(setCarrier, { prefix: "58", settings, actor: "test" });
    const others = await submit(partner, { iccid: iccid("b"), title: "Ms" });
    const body = { reference: others, outcome: "confirmed" };
    expect((await callBack(url, { body, now })).status).toBe(404);
    expect((await callBack(url, { body, now, prefix: "58" })).status).toBe(409);
  });

  test("a callback that arrives before the response to the request takes effect", async () => {
    const { carrier, due, work, show, partner, url, clock, events } = await withHttpCarrier();
    carrier.answers(async (response, { reference }) => {
      const body = { reference, outcome: "activated", mobile_number: "+61491570156" };
      await callBack(url, { body, now: clock.now() });
      response.writeHead(200, { "content-type": "application/json" }).end('{"outcome":"accepted"}');
    });
    const id = await due();
    await work();
    expect(await show(partner, id)).toMatchObject({ status: "completed" });
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.activated"]);
  });

  test("without a final outcome 24 hours after acceptance a request is left to staff, confirmed or not", async () => {
    const { id, back, show, partner: before, credential, clock, work, events } = await accepted();
    clock.advance(3_600_000);
    expect((await back({ outcome: "confirmed" })).status).toBe(200);
    clock.advance(23 * 3_600_000 - 1);
    expect((await work()).overdue).toBe(0);
    clock.advance(1);
    expect((await work()).overdue).toBe(1);
    const partner = await credential("partner-1", {});
    const record = await show(partner, id);
    expect(record).toMatchObject({
      status: "failed",
      processing_status: "manual_required",
      error_type: "no_final_answer",
    });
    expect(before.clientId).not.toBe(partner.clientId);
    expect((await back({ outcome: "refused" })).body.applied).toBe(false);
    expect(await show(partner, id)).toMatchObject({ processing_status: "manual_required" });
    expect((await back({ outcome: "activated", mobile_number: "+61491570156" })).body.applied).toBe(true);
    expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.confirmed", "activation.activated"]);
  });
});

describe("carriers are rows", () => {
  test("two are seeded, both manual", async () => {
    const { store } = await startActivationPlatform();
    expect(await store.read(listCarriers, null)).toMatchObject([
      {
        prefix: "58",
        name: "Carrier B (Australia)",
        adapter: "manual",
        required_fields: expect.arrayContaining(["title"]),
      },
      { prefix: "896103", name: "Carrier A (Australia)", adapter: "manual", has_secret: false },
    ]);
  });

  test("a new carrier is used at once, and the longest prefix wins", async () => {
    const { store, caller } = await startActivationPlatform();
    const partner = await caller();
    const settings = { name: "Carrier C", brand: "carrier-c", required_fields: ["first_name"], region: "Fiji" };
    const carrier = await store.write(setCarrier, { prefix: "8961035", settings, actor: "operator" });
    expect(carrier).toMatchObject({ adapter: "manual", required_fields: ["first_name"], region: "Fiji" });
    const body = { iccid: "8961035000000000", activation_date: "2026-03-10", first_name: "Ann" };
    expect((await partner.send("POST", ACTIVATIONS, body)).body).toMatchObject({
      carrier: "Carrier C",
      customer_name: "Ann",
    });
    const other = await partner.send("POST", ACTIVATIONS, { ...body, iccid: "8961034000000000" });
    expect(other.body.required_fields).toContain("puk");
  });

  test("invalid settings are refused, each named", async () => {
    const { store } = await startActivationPlatform();
    const settings = { adapter: "http", required_fields: ["shoe_size"], timeout_ms: 1 } as const;
    const refused = store.write(setCarrier, {
      prefix: "9x",
      settings: { ...settings, required_fields: ["shoe_size"] },
      actor: "operator",
    });
    const error = await refused.catch((it: unknown) => it);
    if (!(error instanceof Problem)) throw new Error("not refused");
    expect(Object.keys(error.errors ?? {}).sort()).toEqual([
      "brand",
      "name",
      "prefix",
      "required_fields",
      "secret",
      "timeout",
      "url",
    ]);
  });
});
