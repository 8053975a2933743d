import { expect, test } from "vitest";
import { recordAudit } from "../src/core/audit/record.ts";
import { exportEvidence } from "../src/core/evidence/export.ts";
import type { Store } from "../src/core/store/store.ts";
import { person, startPages } from "./support/pages.ts";
import { csrfOf } from "./support/visitor.ts";

const PATH = "/console/platform/audit";

async function linesOf(store: Store, day: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const { text } of exportEvidence(store, { since: Date.parse(day) })) lines.push(text);
  return lines;
}

async function withTrail() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 1_000);
  return { platform, viewer: await person(platform, { role: "viewer" }) };
}

test("the audit page has the evidence that the terminal exports, from a day on", async () => {
  const { platform, viewer } = await withTrail();
  const page = await viewer.get(`${PATH}?since=2026-03-01&action=partners.`);
  const field = page.page.querySelector('form[action$="/export"] [name="since"]');
  expect(field?.getAttribute("value")).toBe("2026-03-01");
  const file = await viewer.send(page, {}, "/export");
  expect(file.headers.get("content-disposition")).toBe('attachment; filename="evidence-2026-03-01.jsonl"');
  const lines = file.html.trim().split("\n");
  expect(lines).toEqual(await linesOf(platform.store, "2026-03-01"));
  const kinds = new Set(lines.map((line) => Object.keys(JSON.parse(line))[0]));
  expect(kinds).toEqual(new Set(["hash", "head", "key"]));
  expect(file.html).toContain('"chain":"wallet:');
  const later = await viewer.send(page, { since: "2030-01-01" }, "/export");
  expect(
    later.html
      .trim()
      .split("\n")
      .map((line) => Object.keys(JSON.parse(line))),
  ).toEqual([["key"]]);
  // Sent again it is the same file: nothing new was signed.
  expect((await viewer.send(page, {}, "/export")).html).toBe(file.html);
});

test("a day that is none is refused by the form, and who may not read the trail exports none of it", async () => {
  const { platform, viewer } = await withTrail();
  const page = await viewer.get(PATH);
  for (const [since, words] of [
    ["", "From (UTC day) is required."],
    ["2026-02-30", "must be a real date as YYYY-MM-DD"],
  ] as const) {
    const refused = await viewer.send(page, { since }, "/export");
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(words)]);
    expect(refused.page.querySelector("details")?.hasAttribute("open")).toBe(true);
  }
  for (const role of ["support", "finance"] as const) {
    const one = await person(platform, { role });
    const typed = { ...csrfOf(await one.get("/console")), since: "2026-03-01" };
    const refused = await one.post(`${PATH}/export`, typed, { origin: platform.url });
    expect([refused.status, refused.html.includes('"hash"')]).toEqual([403, false]);
  }
});

test("a list whose first page is empty has its CSV all the same", async () => {
  const { platform, viewer } = await withTrail();
  const entry = { actor: "test", partnerId: null, targetKind: "test", targetId: "one" } as const;
  await platform.store.write(async (tx) => {
    await recordAudit(tx, { ...entry, action: "rare.act" });
    for (let no = 0; no < 5_000; no++) await recordAudit(tx, { ...entry, action: "test.count" });
  }, null);
  const page = await viewer.get(`${PATH}?action=rare`);
  expect(page.text).toContain("None of the newest lines fit");
  const link = page.page.querySelectorAll("nav a").find((one) => one.text === "Download CSV");
  const csv = await viewer.get(link?.getAttribute("href") ?? "");
  expect(csv.html.trim().split("\n").slice(1)).toEqual([expect.stringContaining("rare.act")]);
});
