/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { request } from "../support/activations.ts";
import { CARRIER_SECRET, type CarrierRequest, type CarrierServer, callBack, startCarrier } from "../support/carrier.ts";
import { esimctl, esimctlJson } from "../support/cli.ts";
import { type Daemon, type Served, startDaemon, targetOf } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { repeated } from "../support/rounds.ts";
import { freshUrl, onPostgres, temporaryDirectory } from "../support/store.ts";

const REQUESTS = repeated(onPostgres ? 80 : 200);
/** The daemon is killed when the carrier has got so many requests. */
const KILLS_AT = Array.from({ length: Math.floor(REQUESTS / 40) - 1 }, (_, at) => 30 + 40 * at);
/** A lease of a killed daemon expires after a minute; a fault is retried after another. */
const END_MS = 240_000;

/** What becomes of a request is in the carrier's hands, by the last digit of its ICCID. */
const fates: Record<string, { first: object; later?: object; status: string }> = {
  "0": { first: { outcome: "activated", mobile_number: "+61491570156" }, status: "completed" },
  "1": { first: { outcome: "refused", error_type: "no" }, status: "failed" },
  "2": {
    first: { outcome: "accepted" },
    later: { outcome: "activated", mobile_number: "+61491570157" },
    status: "completed",
  },
  "3": {
    first: { outcome: "confirmed" },
    later: { outcome: "activated", mobile_number: "+61491570158" },
    status: "completed",
  },
  "4": { first: { outcome: "accepted" }, later: { outcome: "refused" }, status: "failed" },
};

const fateOf = (iccid: unknown) => fates[String(Number(String(iccid).at(-1)) % 5)] ?? { first: {}, status: "" };

/** Requests for today, handed in while nothing serves. */
async function installation(carrier: CarrierServer, url: string | undefined): Promise<Served> {
  const folder = temporaryDirectory();
  const served =
    url === undefined ? { data: join(folder, "data") } : { database: url, keyFile: join(folder, "esimctl.key") };
  const { args, env } = targetOf(served);
  const run = (line: string) => esimctlJson([...line.split(" "), ...args], { env });
  await run("init");
  await run("partners create agency --name Agency");
  const set = `carriers set 896103 --adapter http --url ${carrier.url} --secret - --timeout 10`;
  const { exitCode } = await esimctl([...set.split(" "), ...args], { env, input: `${CARRIER_SECRET}\n` });
  expect(exitCode).toBe(0);
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(new Date());
  const rows = Array.from({ length: REQUESTS }, (_, at) =>
    request({ iccid: `896103${String(at).padStart(12, "0")}`, activation_date: today, passport_expiry: "2039-01-01" }),
  );
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  writeFileSync(join(folder, "sims.csv"), lines.map((line) => line.join(",")).join("\n"));
  const submitted = await run(`activations submit ${join(folder, "sims.csv")} --partner agency --sandbox`);
  expect(submitted).toMatchObject({ submitted: REQUESTS });
  return served;
}

/** A slow carrier that keeps its outcomes and repeats each callback until it is accepted. */
function behave(carrier: CarrierServer, platform: () => string): { callbacks: Promise<void>[] } {
  const known = new Set<string>();
  const callbacks: Promise<void>[] = [];
  carrier.answers(async (response, { reference, body }: CarrierRequest) => {
    const { first, later } = fateOf(body.iccid);
    if (!known.has(reference) && later !== undefined)
      callbacks.push(callUntilAccepted(platform, { reference, ...later }));
    known.add(reference);
    await pause(20 + Math.random() * 60);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(first));
  });
  return { callbacks };
}

async function callUntilAccepted(platform: () => string, body: object): Promise<void> {
  for (;;) {
    await pause(150);
    // The daemon is down, or the limit is reached: retry a little later.
    const reply = await callBack(platform(), { body, now: Date.now() }).catch(() => null);
    if (reply?.status === 200) return;
    if (reply !== null && reply.status !== 429) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    await pause(reply === null ? 200 : Number(reply.headers.get("retry-after") ?? 1) * 1000);
  }
}

interface Found {
  id: string;
  iccid: string;
  status: string;
}

function inspect(served: Served) {
  return inSnapshot(locationOf(served), async (rows) => ({
    requests: await rows<Found>("SELECT id, iccid, status FROM activations"),
    events: await rows<{ subject_id: string; kind: string; times: number }>(
      "SELECT subject_id, kind, count(*) AS times FROM events GROUP BY subject_id, kind",
    ),
  }));
}

async function until(what: () => boolean, deadline: number): Promise<void> {
  while (!what()) {
    expect(Date.now()).toBeLessThan(deadline);
    await pause(20);
  }
}

test(`kill -9 amid ${REQUESTS} requests: each has its outcome, and one reference at the carrier`, async () => {
  const carrier = await startCarrier();
  let daemon: Daemon | undefined;
  const { callbacks } = behave(carrier, () => daemon?.url ?? "");
  const url = await freshUrl();
  const served = await installation(carrier, url);
  daemon = await startDaemon(served);
  const { port } = daemon;
  const deadline = Date.now() + END_MS;
  for (const count of KILLS_AT) {
    await until(() => carrier.asked.length >= count, deadline);
    await daemon.kill();
    // On SQLite they expire by themselves below.
    if (url !== undefined) await endLeases(url);
    daemon = await startDaemon({ ...served, port });
  }
  const ended = async () =>
    (await inspect(served)).requests.every(({ status }) => status === "completed" || status === "failed");
  while (!(await ended())) {
    expect(Date.now()).toBeLessThan(deadline);
    await pause(500);
  }
  await Promise.all(callbacks);

  const { requests, events } = await inspect(served);
  expect(requests).toHaveLength(REQUESTS);
  for (const { iccid, status } of requests) expect({ iccid, status }).toEqual({ iccid, status: fateOf(iccid).status });

  // The carrier saw every SIM under one reference, which is the request's own; repeats carry the same.
  const references = Map.groupBy(carrier.asked, ({ body }) => String(body.iccid));
  expect(references.size).toBe(REQUESTS);
  for (const { id, iccid } of requests) {
    expect(new Set(references.get(iccid)?.map(({ reference }) => reference))).toEqual(new Set([id]));
  }
  // Without any repetition nothing was cut off in the middle, and the test would show nothing.
  expect(carrier.asked.length).toBeGreaterThan(REQUESTS);

  // Each step emitted one event.
  expect(events.filter(({ times }) => times !== 1)).toEqual([]);
  const emitted = Map.groupBy(events, ({ subject_id }) => subject_id);
  for (const { id, status } of requests) {
    const kinds = emitted.get(id)?.map(({ kind }) => kind);
    expect(kinds).toContain("activation.submitted");
    expect(kinds).toContain(status === "completed" ? "activation.activated" : "activation.failed");
  }
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});
