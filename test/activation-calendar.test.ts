import { describe, expect, onTestFinished, test } from "vitest";
import { createCarrierGateway } from "../src/daemon/gateways/carriers.ts";
import { startActivations } from "../src/daemon/workers/activations.ts";
import { ownCron } from "../src/daemon/workers/cron-lease.ts";
import { ACTIVATIONS, type ActivationPlatform, request, startActivationPlatform } from "./support/activations.ts";
import type { Caller } from "./support/platform.ts";

interface Started extends ActivationPlatform {
  partner: Caller;
}

async function at(start: string): Promise<Started> {
  const platform = await startActivationPlatform({ start });
  return { ...platform, partner: await platform.caller() };
}

/** How many were picked up by steps at these moments, one after the other. */
async function pickedUp({ clock, work }: Started, moments: string[]): Promise<number[]> {
  const counts = [];
  for (const moment of moments) {
    clock.set(moment);
    counts.push((await work()).pickedUp);
  }
  return counts;
}

/** The processing mode of a request with this date, or the problem that refuses it. */
async function outcomeFor({ partner }: Started, activation_date: string): Promise<string> {
  const { status, body } = await partner.send("POST", ACTIVATIONS, request({ activation_date }));
  return status === 201 ? body.processing_mode : (String(body.type).split("/").at(-1) ?? "");
}

// Sydney is UTC+11 in summer; its clocks go back on 5 April 2026 at 3:00 and forward on 4 October 2026 at 2:00.
test("today is the day in Sydney, around midnight, daylight saving changes, new year and a leap day", async () => {
  const platform = await startActivationPlatform({ start: "2026-03-09T00:00:00.000Z" });
  for (const [name, moment, today] of [
    ["a summer evening, just before midnight", "2026-03-09T12:59:59.999Z", "2026-03-09"],
    ["a summer midnight", "2026-03-09T13:00:00.000Z", "2026-03-10"],
    ["the midnight that begins the long day", "2026-04-04T13:00:00.000Z", "2026-04-05"],
    ["the long day's last moment, an hour later than usual", "2026-04-05T13:59:59.999Z", "2026-04-05"],
    ["a winter midnight", "2026-04-05T14:00:00.000Z", "2026-04-06"],
    ["the last moment before the short day", "2026-10-03T13:59:59.999Z", "2026-10-03"],
    ["the short day's last moment", "2026-10-04T12:59:59.999Z", "2026-10-04"],
    ["the midnight after the short day", "2026-10-04T13:00:00.000Z", "2026-10-05"],
    ["new year's eve", "2026-12-31T12:59:59.999Z", "2026-12-31"],
    ["new year", "2026-12-31T13:00:00.000Z", "2027-01-01"],
    ["a leap day", "2028-02-28T13:00:00.000Z", "2028-02-29"],
  ] as const) {
    platform.clock.set(moment);
    const started = { ...platform, partner: await platform.caller() };
    const day = (offset: number) =>
      new Date(Date.parse(`${today}T00:00:00Z`) + offset * 86_400_000).toISOString().slice(0, 10);
    expect(await outcomeFor(started, day(-1)), name).toBe("invalid_activation_date");
    expect(await outcomeFor(started, today), name).toBe("immediate");
    expect(await outcomeFor(started, day(1)), name).toBe("scheduled");
  }
});

describe("each scheduled request is picked up once, when its day begins in Sydney", () => {
  test.each([
    ["when clocks go back", "2026-04-05", "2026-04-04T13:00:00.000Z"],
    ["the day after they went back", "2026-04-06", "2026-04-05T14:00:00.000Z"],
    ["when clocks go forward", "2026-10-04", "2026-10-03T14:00:00.000Z"],
    ["the day after they went forward", "2026-10-05", "2026-10-04T13:00:00.000Z"],
    ["new year", "2027-01-01", "2026-12-31T13:00:00.000Z"],
    ["29 February", "2028-02-29", "2028-02-28T13:00:00.000Z"],
    ["the day after 29 February", "2028-03-01", "2028-02-29T13:00:00.000Z"],
  ])("%s", async (_name, activation_date, midnight) => {
    const start = Date.parse(midnight);
    const moment = (ms: number) => new Date(start + ms).toISOString();
    const started = await at(moment(-7_200_000));
    const id = await started.submit(started.partner, { activation_date, passport_expiry: "2034-01-01" });
    const minutes = [-3_600_000, -60_000, -1, 0, 60_000, 120_000, 3_600_000, 7_200_000, 86_400_000];
    expect(await pickedUp(started, minutes.map(moment))).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0]);
    expect(await started.events(id)).toMatchObject([{ kind: "activation.submitted", data: { activation_date } }]);
  });

  test("a daemon that was down for several days catches up at once", async () => {
    const started = await at("2026-04-03T01:00:00.000Z");
    const { partner, submit, events } = started;
    const ids = [];
    for (const activation_date of ["2026-04-04", "2026-04-05", "2026-04-06", "2026-04-09"]) {
      ids.push(await submit(partner, { activation_date }));
    }
    expect(await pickedUp(started, ["2026-04-06T21:00:00.000Z", "2026-04-06T21:00:01.000Z"])).toEqual([3, 0]);
    expect((await Promise.all(ids.map(events))).map((list) => list.length)).toEqual([1, 1, 1, 0]);
  });

  test("all requests of one day are picked up in one step", { tags: ["slow"] }, async () => {
    const started = await at("2026-03-09T12:00:00.000Z");
    await Promise.all(Array.from({ length: 250 }, () => started.submit(started.partner)));
    const counts = await pickedUp(started, ["2026-03-09T12:59:59.999Z", "2026-03-09T13:00:00.000Z"]);
    expect(counts).toEqual([0, 250]);
  });
});

describe("a request can be changed before it is picked up", () => {
  test("an immediate request is picked up 5 seconds after its creation, not sooner", async () => {
    const started = await at("2026-03-02T01:00:00.000Z");
    await started.submit(started.partner, { activation_date: "2026-03-02" });
    const moments = ["2026-03-02T01:00:00.000Z", "2026-03-02T01:00:04.999Z", "2026-03-02T01:00:05.000Z"];
    expect(await pickedUp(started, moments)).toEqual([0, 0, 1]);
  });

  test("a change of the date to today restarts the 5 seconds; a change of the note does not", async () => {
    const started = await at("2026-03-02T01:00:00.000Z");
    const { partner, submit, clock } = started;
    const id = await submit(partner);
    clock.advance(60_000);
    await partner.send("PATCH", `${ACTIVATIONS}/${id}`, { requested_activation_date: "2026-03-02" });
    clock.advance(3_000);
    await partner.send("PATCH", `${ACTIVATIONS}/${id}`, { note: "hurry", requested_activation_date: "2026-03-02" });
    const moments = ["2026-03-02T01:01:04.999Z", "2026-03-02T01:01:05.000Z"];
    expect(await pickedUp(started, moments)).toEqual([0, 1]);
  });

  test("a request created seconds before midnight also waits 5 seconds", async () => {
    const started = await at("2026-03-09T12:59:58.000Z");
    await started.submit(started.partner, { activation_date: "2026-03-10" });
    const moments = ["2026-03-09T13:00:00.000Z", "2026-03-09T13:00:02.999Z", "2026-03-09T13:00:03.000Z"];
    expect(await pickedUp(started, moments)).toEqual([0, 0, 1]);
  });

  test("a request moved to tomorrow is not picked up today; moved back, it is", async () => {
    const started = await at("2026-03-02T01:00:00.000Z");
    const { partner, submit, clock } = started;
    const id = await submit(partner, { activation_date: "2026-03-02" });
    const put = (requested_activation_date: string) =>
      partner.send("PATCH", `${ACTIVATIONS}/${id}`, { requested_activation_date });
    expect((await put("2026-03-03")).body.processing_mode).toBe("scheduled");
    clock.advance(60_000);
    expect((await started.work()).pickedUp).toBe(0);
    expect((await put("2026-03-02")).body.processing_mode).toBe("immediate");
    clock.advance(5_000);
    expect((await started.work()).pickedUp).toBe(1);
  });

  test("a cancelled request is never picked up", async () => {
    const started = await at("2026-03-02T01:00:00.000Z");
    const { partner, submit, clock } = started;
    const now = await submit(partner, { activation_date: "2026-03-02" });
    const later = await submit(partner);
    for (const id of [now, later]) await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`);
    clock.set("2026-03-20T01:00:00.000Z");
    expect(await started.work()).toMatchObject({ released: 0, pickedUp: 0 });
  });
});

test("the daemon picks up missed requests when it starts, and those of a new day within a minute", {
  tags: ["slow"],
}, async () => {
  const started = await at("2026-03-09T12:00:00.000Z");
  const { partner, submit, store, clock, events } = started;
  const missed = await submit(partner, { activation_date: "2026-03-10" });
  const later = await submit(partner, { activation_date: "2026-03-11" });
  clock.set("2026-03-09T13:00:00.000Z");
  const gateway = createCarrierGateway({ now: clock.now, publicUrl: started.url });
  let tick: () => void = () => {};
  const ticker = (run: () => void) => {
    tick = run;
    return { stop: async () => undefined };
  };
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  const worker = startActivations({ store, gateway, log, calendar: ownCron(store) }, ticker);
  onTestFinished(() => worker.stop());
  const steps = async (id: string) => (await events(id)).length;
  await expect.poll(() => steps(missed)).toBe(1);
  clock.set("2026-03-10T13:00:00.000Z");
  tick();
  await expect.poll(() => steps(later)).toBe(1);
  expect(await steps(missed)).toBe(1);
});

test("a request for today that is not picked up by midnight stays due", async () => {
  const started = await at("2026-03-09T12:59:57.000Z");
  await started.submit(started.partner, { activation_date: "2026-03-09" });
  expect(await pickedUp(started, ["2026-03-09T13:00:01.999Z", "2026-03-09T13:00:02.000Z"])).toEqual([0, 1]);
});
