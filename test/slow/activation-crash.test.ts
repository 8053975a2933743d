/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { dataDirectory } from "../../src/core/store/data-directory.ts";
import { request } from "../support/activations.ts";
import { type Asked, CARRIER_SECRET, type CarrierServer, callBack, startCarrier } from "../support/carrier.ts";
import { esimctl, esimctlJson } from "../support/cli.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { temporaryDirectory } from "../support/store.ts";

const REQUESTS = 500;
/** The daemon is killed when the carrier has got so many requests. */
const KILLS_AT = [40, 120, 200, 280, 360, 440];
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

/** 500 requests for today, handed in while nothing serves. */
async function installation(carrier: CarrierServer): Promise<string> {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  const run = (line: string) => esimctlJson([...line.split(" "), "--data", data]);
  await run("init");
  await run("partners create agency --name Agency");
  const set = `carriers set 896103 --adapter http --url ${carrier.url} --secret - --timeout 10`;
  const { exitCode } = await esimctl([...set.split(" "), "--data", data], { input: `${CARRIER_SECRET}\n` });
  expect(exitCode).toBe(0);
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(new Date());
  const rows = Array.from({ length: REQUESTS }, (_, at) =>
    request({ iccid: `896103${String(at).padStart(12, "0")}`, activation_date: today, passport_expiry: "2039-01-01" }),
  );
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  writeFileSync(join(folder, "sims.csv"), lines.map((line) => line.join(",")).join("\n"));
  const submitted = await run(`activations submit ${join(folder, "sims.csv")} --partner agency --sandbox`);
  expect(submitted).toMatchObject({ submitted: REQUESTS });
  return data;
}

/** A slow carrier that keeps its outcomes and repeats each callback until it is accepted. */
function behave(carrier: CarrierServer, platform: () => string): { callbacks: Promise<void>[] } {
  const known = new Set<string>();
  const callbacks: Promise<void>[] = [];
  carrier.answers(async (response, { reference, body }: Asked) => {
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

function inspect(data: string) {
  const database = new Database(dataDirectory(data).databaseFile, { readonly: true });
  try {
    const requests = database.prepare<[], Found>("SELECT id, iccid, status FROM activations").all();
    const events = database
      .prepare<[], { subject_id: string; kind: string; times: number }>(
        "SELECT subject_id, kind, count(*) AS times FROM events GROUP BY subject_id, kind",
      )
      .all();
    return { requests, events };
  } finally {
    database.close();
  }
}

async function until(what: () => boolean, deadline: number): Promise<void> {
  while (!what()) {
    expect(Date.now()).toBeLessThan(deadline);
    await pause(20);
  }
}

test("kill -9 while 500 requests are processed: each has its outcome, and one reference at the carrier", async () => {
  const carrier = await startCarrier();
  let daemon: Daemon | undefined;
  const { callbacks } = behave(carrier, () => daemon?.url ?? "");
  const data = await installation(carrier);
  daemon = await startDaemon({ data });
  const { port } = daemon;
  const deadline = Date.now() + END_MS;
  for (const count of KILLS_AT) {
    await until(() => carrier.asked.length >= count, deadline);
    await daemon.kill();
    daemon = await startDaemon({ data, port });
  }
  const ended = () => inspect(data).requests.every(({ status }) => status === "completed" || status === "failed");
  while (!ended()) {
    expect(Date.now()).toBeLessThan(deadline);
    await pause(500);
  }
  await Promise.all(callbacks);

  const { requests, events } = inspect(data);
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
