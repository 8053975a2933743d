import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matches } from "../src/cli/commands/activations/targets.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { expectNoIdentity, iccid, request, requestB } from "./support/activations.ts";
import { startDaemon } from "./support/daemon.ts";
import { eventually } from "./support/hangs.ts";
import { newData } from "./support/installation.ts";
import { passport } from "./support/passports.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const FAR = "2031-03-10";

/** A new installation with the partner `agency`, and the terminal acting for it in the sandbox. */
async function installation({ agent = true } = {}) {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  const run = (line: string) => esimctl([...words(line), "--data", data], { cwd: folder });
  const json = async (line: string, exitCode = 0) => {
    const ended = await run(`${line} --json`);
    if (ended.exitCode !== exitCode) throw new Error(`${line}: ${ended.exitCode} ${ended.stdout} ${ended.stderr}`);
    return JSON.parse(ended.stdout);
  };
  await newData(folder);
  await json(`partners create agency --name Agency ${agent ? "--agent" : ""}`.trim());
  return {
    data,
    run,
    json,
    /** As the partner, in the sandbox. */
    acting: (line: string, exitCode = 0) => json(`${line} --partner agency --sandbox`, exitCode),
    path: (name: string) => join(folder, name),
    file(name: string, rows: Record<string, unknown>[]) {
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))];
      writeFileSync(join(folder, name), lines.map((line) => line.join(",")).join("\n"));
    },
  };
}

/** Splits a line at blanks outside quotes. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

const sims = (count: number) =>
  Array.from({ length: count }, () => request({ activation_date: FAR, passport_expiry: "2034-01-01" }));

test("a file of requests: valid lines are submitted, others rejected; a second run submits nothing", async () => {
  const { acting, run, file, path } = await installation();
  const good = sims(3);
  const title = requestB({ activation_date: FAR, passport_expiry: "2034-01-01" });
  const bad = [
    request({ iccid: "12", activation_date: FAR }),
    request({ activation_date: "2031-02-30" }),
    request({ iccid: "4400000000000", activation_date: FAR }),
    { ...title, iccid: iccid("b"), title: "" },
    request({ activation_date: FAR, passport_expiry: "2030-01-01" }),
    request({ activation_date: "2020-01-01" }),
  ];
  file("sims.csv", [...good, title, ...bad]);
  expect(await acting("activations submit sims.csv --dry-run", 3)).toMatchObject({
    read: 10,
    submitted: 0,
    rejected: 5,
  });
  expect(readFileSync(path("sims.rejected.csv"), "utf8")).toMatch(
    /no supported carrier.*\n.*Carrier B.* also needs: title\n.*passport_expiry is before the activation date\n$/,
  );
  expect(await acting("activations list")).toMatchObject({ data: [], count: 0 });
  expect(await acting("activations submit sims.csv", 3)).toEqual({
    read: 10,
    submitted: 4,
    duplicates: 0,
    rejected: 6,
    rejected_file: expect.stringContaining("sims.rejected.csv"),
    reasons: expect.arrayContaining([
      { reason: "iccid must be 13-20 digits, and has 2", rows: 1, example: { line: 6, column: "iccid", form: "99" } },
    ]),
    warnings: [
      expect.objectContaining({ reason: "iccid has a wrong check digit" }),
      expect.objectContaining({ reason: "sim_last4 is not the end of the iccid" }),
      expect.objectContaining({ reason: "activation_date is more than 2 years ahead" }),
      expect.objectContaining({ reason: expect.stringMatching(/^activation_date 2020-01-01 is past/) }),
    ],
    suggestions: [],
    seconds: expect.any(Number),
  });
  const rejected = readFileSync(path("sims.rejected.csv"), "utf8").trim().split("\n");
  expect(rejected).toHaveLength(7);
  const whys = ["iccid must be 13-20 digits", "real date", "begin like this", "title", "passport_expiry", "past"];
  for (const reason of whys) {
    expect(rejected.filter((line) => line.includes(reason)).length).toBeGreaterThan(0);
  }
  expect(statSync(path("sims.rejected.csv")).mode & 0o777).toBe(0o600);
  file("sims.csv", [...good, title]);
  expect(await acting("activations submit sims.csv")).toMatchObject({ submitted: 0, duplicates: 4, rejected: 0 });
  expect(existsSync(path("sims.rejected.csv"))).toBe(false);
  const { data } = await acting("activations list --status pending --all");
  expect(data).toHaveLength(4);
  const shown = await run(`activations show ${data[0].id} --partner agency --sandbox`);
  expect(shown.stdout).toContain("Philippa Underwold");
  expectNoIdentity(shown.stdout);
});

test.each([true, false])("a corrected row is rejected, and activations edit corrects (agent: %s)", async (agent) => {
  const { acting, run, file, path } = await installation({ agent });
  const [sim = {}, other = {}] = sims(2);
  file("sims.csv", [sim, other]);
  await acting("activations submit sims.csv");
  const corrected = { ...sim, passport_no: "QX8342076", last_name: "Underwood" };
  file("sims.csv", [corrected, other]);
  expect(await acting("activations submit sims.csv", 3)).toMatchObject({ submitted: 0, duplicates: 1, rejected: 1 });
  const rejected = readFileSync(path("sims.rejected.csv"), "utf8");
  expect(rejected).toContain("with another last_name, passport_no. Correct the identity");
  const edit = `activations edit ${sim.iccid} --last-name Underwood`;
  const typed = await esimctl(
    [...edit.split(" "), "--passport-no", "-", "--partner", "agency", "--sandbox", "--data", path("data")],
    {
      input: "QX8342076\n",
    },
  );
  expect([typed.exitCode, typed.stdout]).toEqual([0, expect.stringContaining("Philippa Underwood")]);
  expect(typed.stdout).not.toContain("QX8342076");
  expect(await acting("activations submit sims.csv")).toMatchObject({ submitted: 0, duplicates: 2, rejected: 0 });
  expect(await acting(`activations edit ${sim.iccid} --clear passport_no`, 1)).toMatchObject({
    error: { code: "missing_kyc" },
  });
  expect((await run(`activations edit ${sim.iccid} --partner agency --sandbox`)).exitCode).toBe(2);
});

test("--strict sends nothing where a row is refused for its mailbox, its passport or its day", async () => {
  const { acting, file, path } = await installation();
  const year = new Date().getUTCFullYear();
  const [day, expiry] = [`${year + 1}-03-01`, `${year + 5}-03-01`];
  /** A row that nothing is doubtful about. */
  const row = (digits: string) => {
    const sim = digits + luhnDigit(digits);
    return request({ iccid: sim, sim_last4: sim.slice(-4), activation_date: day, passport_expiry: expiry });
  };
  const bad = row("896103220082619959");
  for (const [change, reason] of [
    [{ customer_email: "no mailbox" }, "customer_email must be an e-mail address"],
    [{ passport_expiry: `${year + 1}-02-28` }, "passport_expiry is before the activation date"],
    [{ activation_date: "2020-01-01" }, "activation_date 2020-01-01 is past: in Sydney it is"],
  ] as const) {
    file("sims.csv", [row("896103220082619958"), { ...bad, ...change }]);
    expect(await acting("activations submit sims.csv --strict", 1)).toMatchObject({ submitted: 0, rejected: 1 });
    expect(readFileSync(path("sims.rejected.csv"), "utf8")).toContain(reason);
  }
  expect(await acting("activations list")).toMatchObject({ data: [] });
});

test("a request cancelled for the same date is submitted again only on demand", async () => {
  const { acting, file } = await installation();
  const [sim = {}] = sims(1);
  file("sims.csv", [sim]);
  await acting("activations submit sims.csv");
  await acting(`activations cancel --iccid ${sim.iccid}`);
  expect(await acting("activations submit sims.csv", 1)).toMatchObject({ submitted: 0, rejected: 1 });
  expect(await acting("activations submit sims.csv --again")).toMatchObject({ submitted: 1, rejected: 0 });
  file("sims.csv", [{ ...sim, activation_date: "2031-04-01" }]);
  expect(await acting("activations submit sims.csv", 1)).toMatchObject({ rejected: 1 });
  file("sims.csv", [{ ...sim, activation_date: "2031-04-01", confirm_date_change: "yes" }]);
  expect(await acting("activations submit sims.csv")).toMatchObject({ submitted: 1 });
  const { data } = await acting("activations list");
  expect(data.map((one: { status: string }) => one.status)).toEqual(["pending", "cancelled", "cancelled"]);
});

test("lines without a passport draw from the pool, and cancelling releases the draw", async () => {
  const { acting, json, file } = await installation();
  // The passport in the pool has no address: the line brings it.
  const line = () => ({
    iccid: iccid(),
    activation_date: FAR,
    sim_last4: "1234",
    puk: "87654321",
    address: "1 Sea St",
  });
  const lines = [line(), line(), line(), line(), line()];
  file("sims.csv", lines);
  expect(await acting("activations submit sims.csv", 1)).toMatchObject({ submitted: 0, rejected: 5 });
  const { reference, address, ...document } = passport();
  file("pool.csv", [document]);
  await acting("passports import pool.csv");
  const { passport_country, passport_no } = document;
  file("verdicts.csv", [{ passport_country, passport_no, result: "verified", onshore: "yes" }]);
  await json("passports verify --file verdicts.csv");
  // One passport, at most four uses for a brand.
  expect(await acting("activations submit sims.csv", 3)).toMatchObject({ submitted: 4, rejected: 1 });
  const { data } = await acting("activations list");
  expect(data[0]).toMatchObject({ customer_name: `${document.first_name} ${document.last_name}` });
  await acting(`activations cancel ${data[0].id}`);
  file("more.csv", [lines.at(-1) ?? {}]);
  expect(await acting("activations submit more.csv")).toMatchObject({ submitted: 1 });
});

test("450 mixed cancellations from a file have the right outcomes and totals", { tags: ["slow"] }, async () => {
  const { acting, run, file, path } = await installation();
  const rows = sims(400);
  file("sims.csv", rows);
  await acting("activations submit sims.csv");
  const { data } = await acting("activations list --all");
  const ids = new Map<string, string>(data.map((one: { iccid: string; id: string }) => [one.iccid, one.id]));
  // By id, by ICCID, twice, unknown, of no request: in turns.
  const first = rows
    .slice(0, 350)
    .map(({ iccid: sim }, at) =>
      at % 2 === 0 ? { activation_id: ids.get(String(sim)) ?? "" } : { iccid: String(sim) },
    );
  const twice = first.slice(0, 40);
  const unknown = Array.from({ length: 55 }, (_, at) =>
    at % 2 === 0 ? { activation_id: crypto.randomUUID() } : { iccid: iccid() },
  );
  const bad = Array.from({ length: 5 }, () => ({ activation_id: "nonsense" }));
  const all = [...first, ...twice, ...unknown, ...bad];
  expect(all).toHaveLength(450);
  file("cancel.csv", all);
  const asked = await run("activations cancel --file cancel.csv --partner agency --sandbox");
  expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining("Cancel 445 activations?")]);
  const answer = await acting("activations cancel --file cancel.csv --yes", 3);
  expect(answer.summary).toEqual({ total: 445, successful: 350, failed: 95 });
  expect(answer).toMatchObject({ rejected: 5, rejected_file: expect.stringContaining("cancel.rejected.csv") });
  expect(answer.results).toHaveLength(445);
  for (const [at, result] of answer.results.entries()) {
    expect(result).toMatchObject(all[at] ?? {});
    expect(result.status).toBe(at < 350 ? "cancelled" : "failed");
    const again = at % 2 === 0 ? "not_cancellable:cancelled" : "not_found";
    expect(result.reason).toBe(at < 350 ? undefined : at < 390 ? again : "not_found");
  }
  expect(readFileSync(path("cancel.rejected.csv"), "utf8").trim().split("\n")).toHaveLength(101);
  expect((await acting("activations list --status pending --all")).count).toBe(50);
});

test("without an agent record cancel and reschedule send one request each, with the same outcomes", async () => {
  const { acting, run, file } = await installation({ agent: false });
  const rows = sims(4);
  file("sims.csv", rows);
  await acting("activations submit sims.csv");
  const [a, b, c, d] = rows.map((row) => String(row.iccid));
  await acting(`activations cancel --iccid ${d}`);
  const { data } = await acting(`activations list --iccid ${d}`);
  file("moves.csv", [
    { activation_id: "", iccid: a, requested_activation_date: "2031-05-01", note: "" },
    { iccid: b, requested_activation_date: "", note: "by hand" },
    { iccid: c, requested_activation_date: "2020-01-01", note: "" },
    { iccid: c, requested_activation_date: "2034-01-02", note: "" },
    { iccid: d, requested_activation_date: "2031-05-01", note: "" },
    { iccid: "", requested_activation_date: "2031-05-01", note: "" },
    { iccid: c, requested_activation_date: "soon", note: "" },
    { activation_id: data[0].id, iccid: b, requested_activation_date: "2031-05-01", note: "" },
  ]);
  const moved = await acting("activations reschedule --file moves.csv --date 2031-06-01 --yes", 3);
  expect(moved.results.map((one: { reason?: string; status: string }) => one.reason ?? one.status)).toEqual([
    "rescheduled",
    "rescheduled",
    "invalid_activation_date",
    "passport_expired",
    "not_found",
  ]);
  expect(moved).toMatchObject({ summary: { total: 5, successful: 2, failed: 3 }, rejected: 3 });
  const reasons = moved.reasons.map(({ reason }: { reason: string }) => reason);
  expect(reasons).toContain("both activation_id and iccid are given: one is enough");
  expect(moved.results[0].activation).toMatchObject({ activation_date: "2031-05-01" });
  expect(moved.results[1].activation).toMatchObject({ activation_date: "2031-06-01", note: "by hand" });
  const cancelled = await acting(`activations cancel ${data[0].id} ${moved.results[0].activation.id} --yes`, 3);
  expect(cancelled.results).toMatchObject([
    { activation_id: data[0].id, status: "failed", reason: "not_cancellable:cancelled" },
    { status: "cancelled", activation: { status: "cancelled" } },
  ]);
  const again = await run(`activations cancel ${data[0].id} --partner agency --sandbox`);
  expect(again.stdout).toMatch(/it is cancelled: only a pending request can be cancelled\n\n1 request: 1 failed\.$/);
});

test("wrong usage prints what to do and changes nothing", async () => {
  const { run } = await installation();
  const partner = "--partner agency --sandbox";
  for (const [line, hint] of [
    [`activations cancel ${partner}`, "No request is named.\n"],
    [`activations cancel ${partner}`, "Give ids, --iccid, --file, or --from and --to"],
    [`activations reschedule ${partner}`, "Give ids, --iccid, --file, or --from and --to, and --date, --note or both"],
    [`activations cancel 12 ${partner}`, "neither the id of a request nor an ICCID"],
    [
      `activations cancel 12 ${partner}`,
      "Give an id as esimctl activations list shows it, or an ICCID: 13 to 20 digits.",
    ],
    [`activations cancel ORD-1 ${partner}`, "esimctl orders cancel"],
    [`activations reschedule --iccid ${iccid()} ${partner}`, "--date"],
    [`activations reschedule --iccid ${iccid()} --date tomorrow ${partner}`, "YYYY-MM-DD"],
  ]) {
    const ended = await run(String(line));
    expect([ended.exitCode, ended.stderr]).toEqual([2, expect.stringContaining(String(hint))]);
  }
});

test("open requests are found by a part of ICCID or name, whatever its case and accents", () => {
  const one = { iccid: "8961032200826199583", customer_name: "José Nuñez-Ångström" };
  for (const term of ["", "220082", "8961 0322", "nunez", "JOSE ang", "ström josé", "José"]) {
    expect([term, matches(one, term)]).toEqual([term, true]);
  }
  for (const term of ["220083", "josef", "nunez maria"]) expect([term, matches(one, term)]).toEqual([term, false]);
});

test("staff process a manual carrier's request from the queue to its end, while the daemon serves", {
  tags: ["slow"],
}, async () => {
  const { acting, json, run, file, data } = await installation();
  await startDaemon({ data });
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(new Date());
  const rows = [1, 2].map(() => request({ activation_date: today, passport_expiry: "2034-01-01" }));
  file("sims.csv", rows);
  await acting("activations submit sims.csv");
  const { data: queued } = await eventually(
    () => json("activations queue"),
    ({ count }) => count === 2,
  );
  const [first, second] = queued;
  expect(first).toMatchObject({ partner: "agency", environment: "sandbox", processing_status: "processing" });
  expectNoIdentity(queued);
  expect(await json("activations queue --carrier 58")).toEqual({ data: [], count: 0 });
  expect(await json("activations queue --carrier nope", 1)).toMatchObject({
    error: { code: "not_found", message: "No carrier has the prefix nope." },
  });
  const revealed = await json(`activations show ${first.id} --reveal`);
  expect(revealed).toMatchObject({ id: first.id, identity: { passport_no: "QX8342075", puk: "22542821" } });
  expect(await json(`activations show ${first.iccid}`)).toMatchObject({ id: first.id });
  const people = await run(`activations show ${first.iccid} --reveal`);
  expect(people.stdout).toContain("QX8342075");
  const audit = await json(`audit list --target ${first.id}`);
  expect(audit.data.map((entry: { action: string }) => entry.action)).toContain("activations.reveal");
  expectNoIdentity(audit);
  expect(await json(`activations confirm ${first.id} --number P-1`)).toMatchObject({ processing_status: "confirmed" });
  const noNumber = await run(`activations complete ${first.id}`);
  expect([noNumber.exitCode, noNumber.stderr]).toEqual([2, expect.stringContaining("--mobile is needed")]);
  const done = await json(`activations complete ${first.id} --mobile +61491570156`);
  expect(done).toMatchObject({ status: "completed", mobile_number: "+61491570156", confirmation_number: "P-1" });
  const failed = await json(`activations fail ${second.id} --error sim_blocked --message "The SIM is blocked."`);
  expect(failed).toMatchObject({ status: "failed", error_type: "sim_blocked" });
  const retried = await run(`activations retry ${second.id}`);
  expect([retried.exitCode, retried.stderr]).toEqual([1, expect.stringContaining("failed")]);
  const unknown = await run(`activations retry ${crypto.randomUUID()}`);
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("No activation and no order item")]);
});

test("carriers are listed and set; a secret is read from standard input and never printed", async () => {
  const { json, run, data } = await installation();
  expect((await json("carriers list")).data).toMatchObject([{ prefix: "58" }, { prefix: "896103", adapter: "manual" }]);
  const line =
    "carriers set 896103 --adapter http --url https://carrier.example/activate --secret - --timeout 5 --json";
  const input = "a secret of carrier A, long enough\n";
  const set = await esimctl([...words(line), "--data", data], { input });
  expect(JSON.parse(set.stdout)).toMatchObject({ adapter: "http", has_secret: true, timeout_seconds: 5 });
  expect(set.stdout + set.stderr).not.toContain("long enough");
  const added = await json('carriers set 8964 --name "Carrier C" --brand carrier-c --required first_name,passport_no');
  expect(added).toMatchObject({ prefix: "8964", required_fields: ["first_name", "passport_no"], adapter: "manual" });
  const wrong = await run("carriers set 8965 --adapter http --required shoe_size");
  // A field that no carrier requires is invalid, whatever else is missing.
  expect(wrong.exitCode).toBe(1);
  for (const field of ["name", "brand", "shoe_size", "url", "secret"]) expect(wrong.stderr).toContain(field);
});
