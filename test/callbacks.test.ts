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
