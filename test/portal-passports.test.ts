import { expect, test } from "vitest";
import { updatePartner } from "../src/core/partners/update.ts";
import { drawPassport } from "../src/core/passports/draw.ts";
import { person, startPages } from "./support/pages.ts";
import { draws, importRecords, makeDrawable, passport } from "./support/passports.ts";
import type { Seen } from "./support/visitor.ts";

async function withPool() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "agency", live: true, agent: true });
  const agent = await person(platform, { partner: "agency", role: "agent" });
  return { ...platform, platform, caller, agent };
}

test("the pool is listed masked, found by a whole number, and downloaded as CSV", async () => {
  const { caller, agent } = await withPool();
  const known = passport({ passport_no: "018159083", reference: "GRP-A", date_of_birth: "1975-03-13" });
  await importRecords(caller, [known, passport()]);
  const list = await agent.get("/portal/passports");
  expect(list.text).toContain("••••••083GBRO. F.2034-02-14GRP-A");
  for (const secret of ["018159083", "Ottoline", known.last_name, "1975-03-13", "Banksia"]) {
    expect(list.html).not.toContain(secret);
  }
  const found = await agent.get("/portal/passports?passport_no=018%20159-083");
  expect(found.page.querySelectorAll("tbody tr").length).toBe(1);
  expect((await agent.get("/portal/passports?passport_no=083")).text).toContain("No passport of the pool has exactly");
  const csv = await agent.get("/portal/passports?format=csv");
  expect(csv.html).toContain("••••••083,GBR,O. F.,2034-02-14,GRP-A,");
  expect(csv.html).not.toContain("018159083");
});

test("passports that expire within 60 days need attention, and are listed, the next one first", async () => {
  const { platform, caller, agent, clock } = await withPool();
  const inDays = (days: number) => new Date(clock.now() + days * 86_400_000).toISOString().slice(0, 10);
  const ends = [59, 400, 61, 3, 60];
  await importRecords(
    caller,
    ends.map((days) =>
      passport({ passport_expiry: inDays(days), reference: `IN-${days}`, passport_no: `GONE-${days}` }),
    ),
  );
  const overview = await agent.get("/portal");
  expect(overview.text).toContain("Passports that expire within 60 days: 3.");
  const link = overview.page.querySelectorAll("main a").find(({ text }) => text.startsWith("Passports that expire"));
  const list = await agent.get(link?.getAttribute("href") ?? "");
  const references = ({ page }: Seen) =>
    page.querySelectorAll('td[data-title="Your reference"]').map(({ text }) => text);
  expect(references(list)).toEqual(["IN-3", "IN-59", "IN-60"]);
  expect(list.html).not.toContain("GONE-3");
  expect(references(await agent.get("/portal/passports?expires=soon&passport_no=gone60"))).toEqual(["IN-60"]);
  expect((await agent.get("/portal/passports?expires=soon&passport_no=gone61")).text).toContain("exactly this number");
  // In their own environment alone, and of their own partner.
  await platform.caller({ slug: "globex", live: true, agent: true });
  const other = await person(platform, { partner: "globex", role: "agent" });
  expect((await other.get("/portal")).text).not.toContain("Passports that expire");
  expect((await other.get("/portal/passports?expires=soon")).text).toContain("No passport expires within 60 days.");
  await agent.send(overview, { environment: "sandbox" });
  expect((await agent.get("/portal/passports?expires=soon")).text).toContain("No passport expires within 60 days.");
});

test("a passport is withdrawn after its consequence was shown, unless it was used", async () => {
  const { platform, caller, agent, store } = await withPool();
  const [id] = await importRecords(caller, [passport({ passport_no: "018159083" })]);
  const at = `/portal/passports/${id}`;
  const page = await agent.get(at);
  expect([page.text, page.html]).toEqual([
    expect.stringContaining("Passport ••••••083"),
    expect.stringContaining(`${id}`),
  ]);
  expect(page.html).not.toContain("018159083");
  const asked = await agent.send(page, {}, "/withdraw");
  expect(asked.text).toContain("Withdraw passport ••••••083?");
  const viewer = await person(platform, { partner: "agency", role: "viewer" });
  const seen = await viewer.get(at);
  expect([seen.status, seen.html.includes("/withdraw")]).toEqual([200, false]);
  const done = await agent.send(asked, {}, "/withdraw");
  expect([done.path, done.text]).toEqual(["/portal/passports", expect.stringContaining("is withdrawn")]);
  expect((await agent.get(at)).status).toBe(404);

  const [used] = await importRecords(caller, [passport()]);
  await makeDrawable(store, used === undefined ? [] : [used]);
  const form = await agent.get(`/portal/passports/${used}`);
  expect(await store.write(drawPassport, draws(caller, { environment: "production" }))).not.toBeNull();
  const refused = await agent.send(form, {}, "/withdraw");
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("already used for an activation")]);
});

test("another partner's passports, and those of the other environment, are not found", async () => {
  const { platform, agent } = await withPool();
  const other = await platform.caller({ slug: "globex", live: true, agent: true });
  const sandbox = await platform.credential("agency", { live: false });
  const form = await agent.get("/portal/passports");
  const _csrf = form.page.querySelector('input[name="_csrf"]')?.getAttribute("value") ?? "";
  for (const caller of [other, sandbox]) {
    const [id] = await importRecords(caller, [passport()]);
    expect((await agent.get(`/portal/passports/${id}`)).status).toBe(404);
    const sent = await agent.post(`/portal/passports/${id}/withdraw`, { _csrf, confirmed: "yes" });
    expect(sent.status).toBe(404);
  }
  expect((await agent.get("/portal/passports/none")).status).toBe(404);
});

test("who may not see passports does not, and a partner without a pool reads why in words", async () => {
  const { platform } = await withPool();
  const developer = await person(platform, { partner: "agency", role: "developer" });
  expect((await developer.get("/portal/passports")).status).toBe(403);
  expect((await developer.post("/portal/passports/x/withdraw", {})).status).toBe(403);
  await platform.caller({ slug: "shop", live: true });
  const owner = await person(platform, { partner: "shop", role: "owner" });
  const page = await owner.get("/portal/passports");
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("Ask the operator for an agent record")]);
});

const messyNames = ["Kunde", "Given Name", "SURNAME", "DOB", "Passport No.", "Issuing country", "Ablauf", "City"];

/** As a partner sends it: a title, semicolons, Windows letters, other names, German dates; line 23 and 44 are wrong. */
function messyFile(rows = 40): Blob {
  const good = Array.from({ length: rows }, (_, row) =>
    ["GR-7", "José", `Müller${row}`, "16.07.1964", `X${4_000_000 + row}`, "Germany", "28.02.2034", "Köln"].join(";"),
  );
  const noBirth = "GR-7;Zoë;Bad;31.02.1964;X5000001;Germany;28.02.2034;Köln";
  const cut = "GR-7;Anaïs;Cut;16.07.1964";
  const lines = ["Reisegruppe;;;;;;;", "", messyNames.join(";"), ...good.slice(0, 19), noBirth, ...good.slice(19), cut];
  return new Blob([Uint8Array.from(Buffer.from(lines.join("\r\n"), "latin1"))]);
}

function rowsUnder({ page }: Seen, title: string): string[] {
  const section = page.querySelectorAll("section").find((one) => one.querySelector("h2")?.textContent.includes(title));
  return section?.querySelectorAll("tbody tr").map((row) => row.textContent) ?? [];
}

test("forty passports go in from a messy file, and its two wrong rows come back with the reasons", async () => {
  const { agent, caller } = await withPool();
  const start = await agent.get("/portal/passports/import");
  const mapping = await agent.send(start, { file: messyFile() });
  expect([mapping.status, mapping.text]).toEqual([
    200,
    expect.stringContaining("Choose the columns of: passport expiry."),
  ]);
  expect(mapping.text).toContain("Not read: Kunde, Ablauf.");
  expect(mapping.text).toContain("read as Windows, Western Europe");

  const preview = await agent.send(mapping, { column_passport_expiry: "6", step: "import" });
  expect(preview.text).toContain("42 rows in the file: 40 good, 2 wrong. Nothing is stored yet.");
  expect(rowsUnder(preview, "First rows")[0]).toContain("JoséMüller01964-07-16X4000000Germany2034-02-28");
  expect(rowsUnder(preview, "2 rows wrong")).toEqual([
    expect.stringMatching(/^23Zoë Bad.*date_of_birth must be a real date/),
    expect.stringMatching(/^45Anaïs Cut.*has 4 fields where the header has 8/),
  ]);
  expect((await caller.get("/api/v1/kyc/passports")).body.count).toBe(0);

  const done = await agent.send(preview, {}, "/passports/import");
  expect(done.text).toContain("Added: 40.");
  expect(done.text).toContain("There already: 0Rejected: 2");
  const pool = (await caller.get("/api/v1/kyc/passports")).body.records;
  expect(pool.length).toBe(40);
  expect(pool[39]).toMatchObject({
    first_name: "José",
    passport_country: "DEU",
    date_of_birth: "1964-07-16",
    suburb: "Köln",
  });

  const saved = await agent.send(done, {}, "/rejected");
  expect(saved.headers.get("content-disposition")).toContain("passports.rejected.csv");
  const [header, ...lines] = saved.html.trim().split("\n");
  expect(header?.replace("\ufeff", "")).toBe([...messyNames, "line", "reason"].join(";"));
  expect(lines.map((line) => line.split(";")[8])).toEqual(["23", "45"]);
  expect(lines[0]).toContain("date_of_birth must be a real date");

  const corrected = saved.html.replace("31.02.1964", "28.02.1964");
  const second = await agent.send(await agent.get("/portal/passports/import"), { file: new Blob([corrected]) });
  const shown = await agent.send(second, { column_passport_expiry: "6" }, "/passports/import");
  expect(shown.text).toContain("2 rows in the file: 1 good, 1 wrong");
  expect(shown.text).not.toContain("Not read: Kunde, line");
});

test("what is there already is counted, and what differs from it is rejected", async () => {
  const { agent } = await withPool();
  const head = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
  const send = async (...rows: string[]) => {
    const form = await agent.get("/portal/passports/import");
    const preview = await agent.send(form, { file: new Blob([`${[head, ...rows].join("\n")}\n`]) });
    return agent.send(preview, {}, "/passports/import");
  };
  const ada = "Ada,Byron,1985-12-10,P1000001,GBR,2034-02-14";
  expect((await send(ada)).text).toContain("Added: 1.");
  const again = await send(
    ada,
    ada.replace("Byron", "Lovelace").replace("1985", "1986"),
    ada.replace("P1000001", "P1000002"),
  );
  expect(again.text).toContain("Rejected: 2");
  const differs = await send(ada.replace("Byron", "Lovelace"), ada.replace("P1000001", "P1000003"));
  expect(differs.text).toContain("Added: 1.");
  expect(rowsUnder(differs, "rejected")).toEqual([
    "2passport_no is in the pool with another last_name: withdraw that record first",
  ]);
  expect((await send(ada)).text).toContain("There already: 1Rejected: 0");
});

test("a change of columns is shown before it is imported, and one column is not two", async () => {
  const { agent, caller } = await withPool();
  const file = new Blob([
    "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry,Other\n" +
      "Ada,Byron,1985-12-10,P1,GBR,2034-02-14,P1000009\n",
  ]);
  const first = await agent.send(await agent.get("/portal/passports/import"), { file });
  expect(rowsUnder(first, "1 row wrong")).toHaveLength(1);
  const twice = await agent.send(first, { column_reference: "3" }, "/passports/import");
  expect([twice.status, twice.text]).toEqual([400, expect.stringContaining("is the same column as passport_no")]);
  const changed = await agent.send(first, { column_passport_no: "6", step: "import" });
  expect(changed.text).toContain("1 row in the file: 1 good, 0 wrong. Nothing is stored yet.");
  expect((await caller.get("/api/v1/kyc/passports")).body.count).toBe(0);
  expect((await agent.send(changed, { step: "import" })).text).toContain("Added: 1.");
});

test.each([
  ["nothing", "", "File is required"],
  ["a workbook", "PK\u0003\u0004rest", "this is a workbook or an archive, not CSV"],
  ["only a header", "first_name,last_name\n", "there are no rows below the header"],
  ["a quote that is not closed", 'first_name,last_name\n"Ada,Byron\n', "a quote is never closed"],
  ["more than 2 MiB", "x".repeat(2 * 1024 * 1024 + 1), "is larger than 2 MiB"],
  ["more than 5,000 rows", `first_name\n${"Ada\n".repeat(5_001)}`, "has more than 5,000 rows"],
])("%s is refused in words", async (_what, content, words) => {
  const { agent } = await withPool();
  const sent = await agent.send(await agent.get("/portal/passports/import"), { file: new Blob([content]) });
  expect([sent.status, sent.text]).toEqual([400, expect.stringContaining(words)]);
});

test("a pool that is full takes no more, and roles that may not import do not", async () => {
  const { agent, platform, store, caller } = await withPool();
  await store.write(updatePartner, { slug: "agency", bounds: { max_pool: 39 }, actor: "test" });
  const mapping = await agent.send(await agent.get("/portal/passports/import"), { file: messyFile() });
  const preview = await agent.send(mapping, { column_passport_expiry: "6" }, "/passports/import");
  const done = await agent.send(preview, {}, "/passports/import");
  expect(done.text).toContain("Rejected: 42");
  expect((await caller.get("/api/v1/kyc/passports")).body.count).toBe(0);
  for (const role of ["viewer", "developer"] as const) {
    const one = await person(platform, { partner: "agency", role });
    expect((await one.get("/portal/passports/import")).status).toBe(403);
    expect((await one.post("/portal/passports/import", {})).status).toBe(403);
    expect((await one.post("/portal/passports/import/rejected", {})).status).toBe(403);
  }
  await platform.caller({ slug: "shop", live: true });
  const owner = await person(platform, { partner: "shop", role: "owner" });
  expect((await owner.get("/portal/passports/import")).text).toContain("Ask the operator for an agent record");
});

test("a file that was shown in one environment is imported into no other", async () => {
  const { agent, caller } = await withPool();
  const head = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
  const file = new Blob([`${head}\nAda,Byron,1985-12-10,P1000001,GBR,2034-02-14\n`]);
  const mapping = await agent.send(await agent.get("/portal/passports/import"), { file });
  expect(mapping.text).toContain("1 good, 0 wrong");
  await agent.send(mapping, { environment: "sandbox" });
  const sent = await agent.send(mapping, { step: "import" });
  expect([sent.status, sent.text]).toEqual([400, expect.stringContaining("has to be chosen again")]);
  expect((await agent.get("/portal/passports")).text).toContain("The pool is empty.");
  expect((await caller.get("/api/v1/kyc/passports")).body.count).toBe(0);
});
