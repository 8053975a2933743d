import { expect, test } from "vitest";
import { attemptsOfActivation } from "../src/core/activations/reveal.ts";
import { callBack, withHttpCarrier } from "./support/carrier.ts";

/** A request that carrier A accepted, its callback, and what was recorded of its answers. */
async function accepted() {
  const started = await withHttpCarrier();
  const id = await started.due();
  await started.work();
  const back = (body: Record<string, unknown>, now = started.clock.now()) =>
    callBack(started.url, { body: { reference: id, ...body }, now });
  return { ...started, id, back, recorded: () => started.store.read(attemptsOfActivation, id) };
}

test("callbacks count from the time of their signature; a replay changes and records nothing", async () => {
  const { id, back, show, partner, clock, recorded } = await accepted();
  const signedAt = clock.now();
  clock.advance(120_000);
  const confirmed = { outcome: "confirmed", confirmation_number: "C-7" };
  expect((await back(confirmed, signedAt)).body).toEqual({ ok: true, applied: true });
  const { confirmed_at } = await show(partner, id);
  expect(Date.parse(String(confirmed_at)) - signedAt).toBeLessThan(1_000);
  const before = await recorded();
  expect((await back(confirmed, signedAt)).body).toEqual({ ok: true, applied: false });
  expect(await recorded()).toEqual(before);
  // When the carrier repeats it, it is signed again.
  expect((await back(confirmed)).body).toEqual({ ok: true, applied: true });
  expect(await recorded()).toHaveLength(before.length + 1);
});

test("a callback counts within five minutes of its signature, on either side", async () => {
  const { back, clock, show, partner, id } = await accepted();
  const confirmed = { outcome: "confirmed", confirmation_number: "C-7" };
  for (const seconds of [-301, 301]) {
    expect((await back(confirmed, clock.now() + seconds * 1_000)).status, `${seconds} s`).toBe(401);
  }
  expect((await show(partner, id)).confirmed_at).toBeNull();
  expect((await back(confirmed, clock.now() + 299_000)).body).toEqual({ ok: true, applied: true });
});

test("a hundred callbacks at once confirm one request once", async () => {
  const { back, recorded, show, partner, id } = await accepted();
  const before = (await recorded()).length;
  const confirmed = { outcome: "confirmed", confirmation_number: "C-7" };
  const replies = await Promise.all(Array.from({ length: 100 }, () => back(confirmed)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  // All have the signature of one moment, which makes them one.
  expect(replies.filter(({ body }) => body.applied)).toHaveLength(1);
  expect(await recorded()).toHaveLength(before + 1);
  expect((await show(partner, id)).status).toBe("processing");
  const { body: feed } = await partner.get("/api/v1/events?limit=100");
  expect(feed.data.filter(({ event }: { event: string }) => event === "activation.confirmed")).toHaveLength(1);
});
