import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { updatePartner } from "../src/core/partners/update.ts";
import type { Read } from "../src/core/store/store.ts";
import { ACTIVATIONS, expectNoIdentity, iccid, request, startActivationPlatform } from "./support/activations.ts";
import { importRecords, makeDrawable, passport } from "./support/passports.ts";
import type { Caller, Platform } from "./support/platform.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const BULK = `${ACTIVATIONS}/bulk`;

async function withPartner() {
  const platform = await startActivationPlatform();
  return { ...platform, partner: await platform.caller({ agent: true }) };
}

/** A line of a SIM that draws from the pool. */
const drawing = (fields: object = {}) => ({
  iccid: iccid(),
  activation_date: "2026-03-10",
  sim_last4: "9583",
  puk: "22542821",
  ...fields,
});

const outcomes = (body: { results: { status: string; reason?: string; replayed: boolean }[] }) =>
  body.results.map(({ status, reason, replayed }) => (replayed ? "replayed" : (reason ?? status)));

test("lines are processed in order, each with its own outcome, and the response has no identity data", async () => {
  const { partner, store } = await withPartner();
  await makeDrawable(store, await importRecords(partner, [passport()]));
  const [sim, moved] = [iccid(), iccid()];
  const lines = [
    request({ iccid: sim }),
    request({ iccid: sim }),
    request({ iccid: moved }),
    request({ iccid: moved, activation_date: "2026-03-11" }),
    request({ iccid: moved, activation_date: "2026-03-11", confirm_date_change: true }),
    drawing(),
    request({ iccid: "12", puk: 5 }),
    request({ iccid: "8944100000000000998" }),
    request({ sim_last4: null }),
    request({ activation_date: "2026-02-30" }),
    request({ activation_date: "2026-03-01" }),
    request({ passport_expiry: "2026-03-09" }),
    request({ passport_country: "XX" }),
    {},
  ];
  const { status, body } = await partner.send("POST", BULK, { lines });
  expect(status).toBe(200);
  expect(outcomes(body)).toEqual([
    "submitted",
    "replayed",
    "submitted",
    "date_conflict",
    "submitted",
    "submitted",
    "validation",
    "carrier_not_supported",
    "missing_kyc",
    "invalid_activation_date",
    "invalid_activation_date",
    "passport_expired",
    "validation",
    "validation",
  ]);
  expect(body.summary).toEqual({ total: 14, successful: 5, failed: 9 });
  expect(body.results[1].activation.id).toBe(body.results[0].activation.id);
  expect(body.results[5].activation.customer_name).toContain("Ottoline");
  expect(body.results[6]).toMatchObject({ iccid: "12", message: "iccid must be 13-20 digits; puk must be a string." });
  expect(body.results[13]).toMatchObject({ iccid: null, message: expect.stringContaining("iccid is required") });
  expectNoIdentity(body.results.map(({ iccid: _, ...rest }: { iccid: string }) => rest));
  const listed = await partner.get(`${ACTIVATIONS}?limit=100`);
  expect(listed.body.data.map(({ status }: { status: string }) => status).sort()).toEqual(
    ["pending", "pending", "pending", "cancelled"].sort(),
  );
});

test("a repeated request has no further effect; ended requests are submitted again only on demand", async () => {
  const { partner, store } = await withPartner();
  await makeDrawable(store, await importRecords(partner, [passport()]));
  const lines = [request(), drawing()];
  const first = await partner.send("POST", BULK, { lines });
  const again = await partner.send("POST", BULK, { lines });
  expect(outcomes(again.body)).toEqual(["replayed", "replayed"]);
  expect(again.body.results.map(idOf)).toEqual(first.body.results.map(idOf));
  const uses = async (q: Read) => (await q.db.select().from(q.t.passports)).map(({ use_count }) => use_count);
  expect(await store.read(uses, null)).toEqual([1]);
  await partner.send("POST", `${ACTIVATIONS}/${idOf(first.body.results[1])}/cancel`);
  expect(await store.read(uses, null)).toEqual([0]);
  const refused = await partner.send("POST", BULK, { lines });
  expect(outcomes(refused.body)).toEqual(["replayed", "ended_before:cancelled"]);
  const asked = await partner.send("POST", BULK, { lines, again: true });
  expect(outcomes(asked.body)).toEqual(["replayed", "submitted"]);
});

const idOf = (one: { activation: { id: string } }) => one.activation.id;

test("200 lines draw four times from each passport, in their order; then the pool is empty", async () => {
  const { partner, store } = await withPartner();
  await makeDrawable(store, await importRecords(partner, [passport(), passport()]));
  const lines = Array.from({ length: 200 }, () => drawing());
  const { body } = await partner.send("POST", BULK, { lines });
  expect(outcomes(body)).toEqual([...Array(8).fill("submitted"), ...Array(192).fill("pool_empty")]);
  const kept = async (q: Read) => (await q.db.select().from(q.t.auditEntries)).map(({ action }) => action);
  expect((await store.read(kept, null)).filter((action) => action === "passports.draw")).toHaveLength(8);
});

test("limits hold for each line; an invalid body is a 400 and a missing agent record a 422 for all", async () => {
  const { partner, caller, store } = await withPartner();
  await store.write(updatePartner, { slug: "partner-1", bounds: { max_sandbox_activations: 2 }, actor: "test" });
  const bounded = await partner.send("POST", BULK, { lines: [request(), request(), request()] });
  expect(outcomes(bounded.body)).toEqual(["submitted", "submitted", "too_many_activations"]);
  const many = Array.from({ length: 201 }, () => request());
  for (const body of [{}, { lines: [] }, { lines: many }, { lines: ["x"] }, { lines: [null] }, { lines: {} }]) {
    const answer = await partner.send("POST", BULK, body);
    expect([answer.status, answer.body.type]).toEqual([400, expect.stringMatching(/validation$/)]);
  }
  const plain = await (await caller()).send("POST", BULK, { lines: [request()] });
  expect([plain.status, plain.body.type]).toEqual([422, expect.stringMatching(/no_agent_record$/)]);
});

/** A line of a generated file: one of few SIMs and days, so that lines meet; now and then something is wrong. */
const generated = fc.record({
  sim: fc.integer({ min: 0, max: 5 }),
  day: fc.constantFrom("2031-03-10", "2031-03-10", "2031-03-11", "2031-02-30", "2020-01-01"),
  named: fc.boolean(),
  change: fc.boolean(),
  wrong: fc.constantFrom<object>({}, {}, {}, {}, { puk: "" }, { sim_last4: "x" }, { passport_expiry: "2030-01-01" }),
});

const file = fc.record({
  lines: fc.array(generated, { minLength: 1, maxLength: 15 }),
  again: fc.boolean(),
  /** SIMs whose requests are cancelled afterwards. */
  cancelled: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 3 }),
});

type Generated = typeof generated extends fc.Arbitrary<infer T> ? T : never;

/** The line for one of the partners: the same but for the SIM's number. */
function lineFor(which: 1 | 2, { sim, day, named, change, wrong }: Generated) {
  const { customer_email, suburb, ...whole } = request({ passport_expiry: "2034-01-01" });
  const { iccid: _, sim_last4, puk } = whole;
  const line = named ? whole : { sim_last4, puk };
  return { ...line, iccid: simOf(which, sim), activation_date: day, confirm_date_change: change, ...wrong };
}

const simOf = (which: number, sim: number) => `8961039${which}000000000${sim}`;

test("the terminal's submit and the endpoint give the same outcomes on the same lines", async () => {
  const platform = await startActivationPlatform({ start: new Date().toISOString() });
  const terminal = await terminalOn(platform);
  const [one, two] = [await platform.caller({ slug: "one", agent: true }), await platform.caller({ agent: true })];
  for (const caller of [one, two]) {
    await makeDrawable(platform.store, await importRecords(caller, [passport()]));
  }
  const simOnly = (found: { iccid: string; activation_date: string; status: string }) =>
    [found.iccid.at(-1), found.activation_date, found.status].join();
  const all = async (caller: Caller) => (await caller.get(`${ACTIVATIONS}?limit=100`)).body.data.map(simOnly);
  await fc.assert(
    fc.asyncProperty(file, async ({ lines, again, cancelled }) => {
      const typed = await terminal.submit(
        lines.map((line) => lineFor(1, line)),
        again,
      );
      const { body } = await two.send("POST", BULK, { lines: lines.map((line) => lineFor(2, line)), again });
      const failed = body.results.flatMap((each: { status: string }, at: number) =>
        each.status === "failed" ? [at] : [],
      );
      const replayed = body.results.filter((each: { replayed: boolean }) => each.replayed).length;
      const submitted = lines.length - failed.length - replayed;
      expect(typed).toEqual({ submitted, duplicates: replayed, rejected: failed });
      expect(await all(one)).toEqual(await all(two));
      for (const [at, caller] of [one, two].entries()) {
        const iccids = cancelled.map((sim) => simOf(at + 1, sim));
        if (iccids.length > 0) await caller.send("POST", `${BULK}/cancel`, { iccids });
      }
    }),
    { numRuns: 12 },
  );
});

/** The operator's terminal on the platform's own data, acting for the partner `one`. */
async function terminalOn({ location, masterKey }: Platform) {
  const folder = "file" in location ? dirname(location.file) : temporaryDirectory();
  const keyFile = join(folder, "esimctl.key");
  writeFileSync(keyFile, `esimctl-key-v1:${masterKey.toString("base64url")}\n`, { mode: 0o600 });
  const data = "file" in location ? ["--data", folder] : ["--database", location.url, "--key-file", keyFile];
  return {
    async submit(lines: Record<string, unknown>[], again: boolean) {
      const columns = [...new Set(lines.flatMap((line) => Object.keys(line)))];
      const rows = lines.map((line) => columns.map((column) => line[column] ?? "").join(","));
      const path = join(folder, "sims.csv");
      writeFileSync(path, [columns.join(","), ...rows].join("\n"));
      const args = ["activations", "submit", path, "--partner", "one", "--sandbox", "--json", ...data];
      const { stdout } = await esimctl([...args, ...(again ? ["--again"] : [])]);
      const { submitted, duplicates, rejected_file } = JSON.parse(stdout);
      const written = rejected_file === null ? [] : readFileSync(rejected_file, "utf8").trim().split("\n").slice(1);
      // The line of the file, less its header and one, is the line of the request.
      const rejected = written.map((row) => Number(row.split(",")[columns.length]) - 2);
      return { submitted, duplicates, rejected };
    },
  };
}
