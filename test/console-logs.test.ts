import { mkdirSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLogFile } from "../src/daemon/log/log-file.ts";
import { createLogger } from "../src/daemon/log/logger.ts";
import { person, startPages } from "./support/pages.ts";
import { temporaryDirectory } from "./support/store.ts";

async function logged() {
  const folder = join(temporaryDirectory(), "logs");
  const file = openLogFile(folder, { warn: (words) => expect.fail(words) });
  onTestFinished(() => file.close());
  const logger = await createLogger("info", { pretty: false, destination: { write: () => undefined }, file });
  const platform = await startPages({ log: { logger, folder } });
  return { platform, logger, folder, file };
}

test("an admin sees the log's lines of a request, also where it changed nothing", async () => {
  const { platform, logger, file } = await logged();
  const caller = await platform.caller({ slug: "acme" });
  const [admin, viewer] = [await person(platform, { role: "admin" }), await person(platform, { role: "viewer" })];
  const { headers } = await caller.get("/api/v1/orders/none");
  const id = headers.get("x-request-id") ?? "";
  const cause = new TypeError("<b>params: P1234567");
  logger.error({ request_id: id, err: new Error("it broke", { cause }) }, "request failed");
  logger.info({ request_id: `${id}0` }, "another request");
  // Its line comes behind its answer, and before the next one.
  await caller.get("/api/v1/orders");
  file.flushSync();
  const found = await admin.get(`/console/platform/logs?request_id=${id}`);
  expect(found.text).toContain("Nothing is recorded under this ID.");
  const link = found.page.querySelectorAll("main a").find(({ text }) => text === "Lines of the log");
  const seen = await admin.get(link?.getAttribute("href") ?? "");
  const rows = seen.page.querySelectorAll("tbody tr").map(({ text }) => text);
  expect(rows).toEqual([
    expect.stringMatching(/infoGET \/api\/v1\/orders\/:id 400 in [\d.]+ mspartner=acme .*refusal=validation/),
    expect.stringContaining("request failed Error: it broke, caused by TypeError: <b>"),
  ]);
  expect(seen.html).not.toContain("P1234567");
  expect(seen.text).toContain(`lines of the log of ${hostname()}, which answered this page`);
  const less = await viewer.get(`/console/platform/logs?request_id=${id}`);
  expect([less.status, less.html.includes("Lines of the log")]).toEqual([200, false]);
  expect((await viewer.get(seen.path)).status).toBe(403);
  expect((await admin.get("/console/platform/logs/lines?request_id=none")).text).toContain("has no line of it");
  expect((await admin.get("/console/platform/logs/lines")).status).toBe(400);
});

test("a log that cannot be read, or is not kept, is named", async () => {
  const { platform, folder } = await logged();
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(folder, "serve.1.log"), join(folder, "serve.1.log"));
  const admin = await person(platform, { role: "admin" });
  const seen = await admin.get("/console/platform/logs/lines?request_id=one");
  expect([seen.status, seen.text]).toEqual([200, expect.stringContaining("Cannot read the log")]);
  const other = await startPages();
  const unlogged = await (await person(other, { role: "admin" })).get("/console/platform/logs/lines?request_id=one");
  expect(unlogged.text).toContain("This node keeps no log.");
});
