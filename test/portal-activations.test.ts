import { expect, test } from "vitest";
import { ACTIVATIONS, expectNoIdentity, iccid, request } from "./support/activations.ts";
import { person, startPages } from "./support/pages.ts";
import { importRecords, makeDrawable, passport } from "./support/passports.ts";
import type { Caller } from "./support/platform.ts";
import type { Seen } from "./support/visitor.ts";

/** A partner and its agent. */
async function withAgent(partner: { agent?: boolean } = { agent: true }) {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true, ...partner });
  return { platform, caller, agent: await person(platform, { partner: "acme", role: "agent" }) };
}

async function submit(caller: Caller, fields: Record<string, unknown> = {}): Promise<{ id: string; iccid: string }> {
  const { status, body } = await caller.send("POST", ACTIVATIONS, request(fields));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

const at = (id: string) => `/portal/activations/${id}`;
const shown = (seen: Seen) => seen.page.querySelectorAll("tbody tr").map((row) => row.textContent.replace(/\s+/g, " "));

test("requests are listed by status, day and ICCID, as CSV too, and opened one by one", async () => {
  const { caller, agent } = await withAgent();
  const first = await submit(caller, { activation_date: "2026-03-10" });
  const second = await submit(caller, { activation_date: "2026-03-11", note: "=HYPERLINK(1)" });
  const list = await agent.get("/portal/activations");
  expect(shown(list)).toHaveLength(2);
  expectNoIdentity(list.text.replaceAll(/\d{17}/g, ""));
  for (const query of [
    "activation_from=2026-03-11",
    `iccid=${second.iccid}`,
    "status=pending&activation_to=2026-03-10",
  ]) {
    expect(shown(await agent.get(`/portal/activations?${query}`))).toHaveLength(1);
  }
  expect((await agent.get("/portal/activations?status=completed")).text).toContain("No requests here");
  const csv = await agent.get("/portal/activations?format=csv");
  expect(csv.html.trim().split("\n")).toHaveLength(3);
  const one = await agent.get(at(first.id));
  expect(one.text).toContain("2026-03-10");
  expectNoIdentity(one.text.replaceAll(first.iccid, ""));
  const calendar = await agent.get("/portal/activations/calendar?month=2026-03");
  expect(calendar.text).toContain("2 requests. The days are those of Sydney");
  expect(calendar.page.querySelector("[aria-label='1 request on 2026-03-11']")?.getAttribute("href")).toContain(
    "03-11",
  );
});

test("an agent submits by the form; what is wrong is named at its field, and sent twice it is there once", async () => {
  const { platform, caller, agent } = await withAgent();
  const { confirm_date_change: _, ...fields } = request() as Record<string, string>;
  const form = await agent.get("/portal/activations/new");
  const wrong = await agent.send(form, { ...fields, puk: "1" });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("PUK must be 4 to 20 digits")]);
  expect(wrong.text).not.toContain("puk must");
  const done = await agent.send(form, fields);
  expect([done.status, done.text]).toEqual([200, expect.stringContaining("The activation is submitted.")]);
  const again = await agent.send(form, fields);
  expect([again.path, again.text]).toEqual([done.path, expect.stringContaining("was there before")]);
  // What a program would send, and the form has a box for.
  const moved = await agent.send(form, { ...fields, activation_date: "2026-03-20" });
  const replaces = "“Replace a pending request for this ICCID that has another date” replaces it.";
  expect([moved.status, moved.text]).toEqual([409, expect.stringContaining(replaces)]);
  const lacking = await agent.send(form, { ...fields, iccid: iccid(), date_of_birth: "" });
  expect([lacking.status, lacking.text]).toEqual([400, expect.stringMatching(/also needs: .*Date of birth/)]);
  const drawing = { ...fields, iccid: iccid(), passport_no: "" };
  const empty = await agent.send(form, drawing);
  expect([empty.status, empty.text]).toEqual([409, expect.stringContaining("The pool has no passport left")]);
  await makeDrawable(platform.store, await importRecords(caller, [passport()]));
  expect((await agent.send(form, drawing)).status).toBe(200);
});

test("without an agent record a passport has to be given, and requests are moved one by one", async () => {
  const { caller, agent } = await withAgent({});
  const { passport_no: _, ...fields } = request() as Record<string, string>;
  const refused = await agent.send(await agent.get("/portal/activations/new"), fields);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("you have no agent record")]);
  const { id } = await submit(caller);
  const asked = await agent.send(await agent.get(at(id)), { date: "2026-03-20", act: "move" }, "/activations/change");
  const done = await agent.send(asked, {}, "/activations/change");
  expect(done.text).toContain("1 request moved.");
  expect((await caller.get(`${ACTIVATIONS}/${id}`)).body.activation_date).toBe("2026-03-20");
});

test("chosen requests are moved by days after their consequences were seen; refused ones are named", async () => {
  const { caller, agent } = await withAgent();
  const [one, two, gone] = [
    await submit(caller),
    await submit(caller, { activation_date: "2026-03-12" }),
    await submit(caller),
  ];
  await caller.send("POST", `${ACTIVATIONS}/${gone.id}/cancel`, {});
  const id = [one.id, two.id, gone.id];
  const list = await agent.get("/portal/activations");
  const none = await agent.send(list, { days: "2", act: "move" });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("None is chosen: tick")]);
  const asked = await agent.send(list, { id, days: "2", act: "move" });
  expect(asked.status).toBe(200);
  expect(shown(asked)).toEqual([
    expect.stringMatching(`${one.iccid}.*2026-03-10 ?2026-03-12`),
    expect.stringMatching(`${two.iccid}.*2026-03-12 ?2026-03-14`),
    expect.stringMatching(`${gone.iccid}.*it is cancelled: only a pending request can be changed`),
  ]);
  expect((await caller.get(`${ACTIVATIONS}/${one.id}`)).body.activation_date).toBe("2026-03-10");
  const sent = () => agent.send(asked, { confirmed: "yes", id });
  const done = await sent();
  expect(done.text).toContain("2 requests moved");
  expect(shown(done)).toEqual([
    expect.stringContaining(one.iccid),
    expect.stringContaining(two.iccid),
    expect.stringMatching(`${gone.iccid}.*it is cancelled`),
  ]);
  const links = done.page.querySelectorAll("tbody a").map((link) => link.getAttribute("href"));
  expect(links).toEqual(id.map(at));
  // Sent twice, nothing moves on.
  expect((await sent()).text).toContain("nothing was done again");
  expect((await caller.get(`${ACTIVATIONS}/${one.id}`)).body.activation_date).toBe("2026-03-12");
  const cancelling = await agent.send(await agent.get("/portal/activations"), { id: [one.id, two.id], act: "cancel" });
  const cancelled = await agent.send(cancelling, { confirmed: "yes", id: [one.id, two.id] });
  expect(cancelled.text).toContain("2 requests cancelled.");
  const over = await agent.send(await agent.get("/portal/activations"), { id, act: "cancel" });
  expect([over.status, over.text]).toEqual([409, expect.stringContaining("3 requests refused")]);
});

test("a date and days at once, a date that is past, and what is no date are refused", async () => {
  const { caller, agent } = await withAgent();
  const { id } = await submit(caller);
  const list = await agent.get("/portal/activations");
  for (const [date, days] of [
    ["2026-03-20", "1"],
    ["", "x"],
    ["", "1000"],
    ["", ""],
  ] as const) {
    expect((await agent.send(list, { id, act: "move", date, days })).status).toBe(400);
  }
  const past = await agent.send(list, { id, act: "move", date: "2026-01-01" });
  expect(past.text).toContain("the date is past in Sydney");
});

test("another partner's request is not found, a viewer may look alone, and a developer may not look", async () => {
  const { platform, caller } = await withAgent();
  const { id } = await submit(caller);
  await platform.caller({ slug: "globex", agent: true });
  const other = await person(platform, { partner: "globex", role: "agent" });
  expect((await other.get(at(id))).status).toBe(404);
  const form = await other.get("/portal/activations/new");
  const typed = { id, act: "cancel" };
  const csrf = form.page.querySelector("main input[name=_csrf]")?.getAttribute("value") ?? "";
  expect((await other.post("/portal/activations/change", { _csrf: csrf, ...typed })).status).toBe(404);
  const confirmed = { ...typed, confirmed: "yes", key: crypto.randomUUID() };
  expect((await other.post("/portal/activations/change", { _csrf: csrf, ...confirmed })).status).toBe(404);
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  const seen = await viewer.get(at(id));
  expect([seen.status, seen.text]).toEqual([200, expect.not.stringContaining("Move or cancel")]);
  expect((await viewer.get("/portal/activations")).page.querySelector("[name=act]")).toBeNull();
  expect((await viewer.get("/portal/activations/new")).status).toBe(403);
  expect((await viewer.post("/portal/activations/change", typed)).status).toBe(403);
  const developer = await person(platform, { partner: "acme", role: "developer" });
  for (const path of ["/portal/activations", at(id), "/portal/activations/calendar"]) {
    expect((await developer.get(path)).status).toBe(403);
  }
});

const file = (lines: string[]) => new Blob([lines.join("\r\n")], { type: "text/csv" });
const names = Object.keys(request()).filter((name) => name !== "customer_email");
const row = (fields: Record<string, unknown> = {}) => {
  const all: Record<string, unknown> = request(fields);
  return names.map((name) => all[name]).join(",");
};

test("a file is submitted once, after a preview of its good and bad rows without identity in it", async () => {
  const { platform, caller, agent } = await withAgent();
  await makeDrawable(platform.store, await importRecords(caller, [passport()]));
  const known = await submit(caller, { iccid: iccid() });
  // A passport of the pool is drawn four times at most, which the rows of one file count together.
  const drawn = Array.from({ length: 5 }, () => row({ passport_no: "" }));
  const bad = [row({ puk: "1" }), row({ iccid: "8944100000000000998" })];
  const rows = [row(), row({ iccid: known.iccid }), ...drawn, ...bad];
  const form = await agent.get("/portal/activations/file");
  const sent = { file: file([names.join(","), ...rows, "1,2"]) };
  const asked = await agent.send(form, sent);
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("Submit 6 rows?")]);
  expect(shown(asked)).toEqual([
    expect.stringContaining("submitted"),
    expect.stringContaining("there already, nothing changes"),
    ...Array.from({ length: 4 }, () => expect.stringContaining("submitted")),
    expect.stringContaining("The pool has no passport left"),
    expect.stringContaining("puk must be 4 to 20 digits"),
    expect.stringContaining("refused"),
    expect.stringContaining("has 2 values"),
  ]);
  expectNoIdentity(asked.text.replaceAll(/\d{17,}/g, ""));
  expect(asked.html).not.toContain("QX8342075");
  expect(shown(await agent.get("/portal/activations"))).toHaveLength(1);
  const done = await agent.send(asked, {}, "/activations/file");
  expect([done.path, done.text]).toEqual(["/portal/activations", expect.stringContaining("6 rows submitted.")]);
  await agent.send(asked, {}, "/activations/file");
  expect(shown(await agent.get("/portal/activations"))).toHaveLength(6);
});

test("what is no such file, an unknown column, too many rows and another person's preview are refused", async () => {
  const { platform, agent } = await withAgent();
  const form = await agent.get("/portal/activations/file");
  const head = names.join(",");
  const files: [Blob, string][] = [
    [file([head]), "has no rows"],
    [file([`${head},passport_number`, `${row()},1`]), "has unknown columns (passport_number)"],
    [file([`${head},iccid`, `${row()},1`]), "has the column iccid twice"],
    [file([head, ...Array.from({ length: 501 }, () => "1")]), "has more than 500 rows"],
    [new Blob(["iccid\0"]), "this is not text"],
    [new Blob(["PK\u0003\u0004rest"]), "a workbook or an archive"],
    [file(["iccid", '"89']), "a quote is never closed"],
    [new Blob([`${head}\n${"x".repeat(500_000)}`]), "is larger than 400 KiB"],
  ];
  for (const [sent, words] of files) {
    const refused = await agent.send(form, { file: sent });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(words)]);
  }
  const spreadsheet = file([names.join(";"), row().replaceAll(",", ";")]);
  const asked = await agent.send(form, { file: spreadsheet });
  expect(asked.text).toContain("Submit 1 row?");
  const colleague = await person(platform, { partner: "acme", role: "agent" });
  const own = await colleague.get("/portal/activations/file");
  const carried = asked.page.querySelector("[name=carried]")?.getAttribute("value") ?? "";
  const stolen = await colleague.post("/portal/activations/file", {
    _csrf: own.page.querySelector("main [name=_csrf]")?.getAttribute("value") ?? "",
    carried,
    confirmed: "yes",
  });
  expect([stolen.status, stolen.text]).toEqual([400, expect.stringContaining("has to be chosen again")]);
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  expect((await viewer.get("/portal/activations/file")).status).toBe(403);
});
