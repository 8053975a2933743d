/** @module-tag slow */
import type { Browser, CDPSession, Page } from "playwright-core";
import { expect, test } from "vitest";
import { axeFindings, COLOR_RULES, openPage, startBrowser, type Watched } from "../support/browser.ts";
import { fillDemo } from "../support/demo-content.ts";
import { type DemoPages, startDemoPages } from "../support/demo-pages.ts";
import { forAllTests } from "../support/owner.ts";
import { isFileOf, kindOf } from "../support/page-kinds.ts";
import { startReceiver } from "../support/receiver.ts";

/** Most bytes of a page with its styles and its script, as they are sent. */
const MOST_BYTES = 100 * 1024;
/** The narrowest screen that shows a page without scrolling sideways. */
const NARROW = 360;
/** Records of one kind that are looked at: they differ by their states. */
const ALIKE = 2;

const browser = forAllTests(startBrowser);

test.each(["portal", "console"] as const)(
  "axe finds nothing on any page of the %s, light and dark, and each is small, fits a phone and asks no other host",
  async (face) => {
    const demo = await startDemoPages();
    await fillDemo(demo, (await startReceiver(500)).url);
    const { page, complaints } = await signedIn(browser(), demo, face);
    const sent = await countBytes(page);
    const seen: string[] = [];
    const faults: string[] = [];
    for await (const { path, status } of pagesFrom(page, `/${face}`)) {
      seen.push(path);
      // What is not possible at this moment is said with 409.
      if (status !== 200 && status !== 409) faults.push(`${path} answers ${status}`);
      if (sent() > MOST_BYTES) faults.push(`${path}: ${sent()} bytes`);
      faults.push(...(await findings(page, path)));
    }
    expect([...faults, ...complaints]).toEqual([]);
    expect(seen.length).toBeGreaterThan(30);
  },
);

test("axe finds nothing on the pages before the sign-in", async () => {
  const demo = await startDemoPages();
  const invited = await demo.operator("users", "invite", "new@staff.example", "--role", "viewer");
  const { page, complaints } = await openPage(browser(), demo.url);
  const faults: string[] = [];
  const paths = ["/portal/sign-in", "/console/sign-in", "/portal/no-such-page", new URL(invited.link).pathname];
  for (const path of paths) {
    await page.goto(path);
    faults.push(...(await findings(page, path)));
  }
  await page.evaluate(() => document.querySelector("label")?.remove());
  expect(await axeFindings(page)).toEqual([expect.stringMatching(/^label: <input/)]);
  const { email, password } = demo.demoPerson("console");
  await typePassword(page, "/console/sign-in", { email, password });
  expect(new URL(page.url()).pathname).toBe("/console/sign-in/factor");
  faults.push(...(await findings(page, "/console/sign-in/factor")));
  expect([...faults, ...complaints]).toEqual([]);
});

async function findings(page: Page, path: string): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // Nothing else differs.
    const found = await axeFindings(page, colorScheme === "dark" ? COLOR_RULES : []);
    faults.push(...found.map((finding) => `${path} (${colorScheme}): ${finding}`));
  }
  const usual = page.viewportSize();
  await page.setViewportSize({ width: NARROW, height: 740 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  if (width > NARROW) faults.push(`${path} is ${width} px wide`);
  if (usual !== null) await page.setViewportSize(usual);
  return faults;
}

async function typePassword(page: Page, path: string, { email, password }: { email: string; password: string }) {
  await page.goto(path);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in"));
}

async function signedIn(from: Browser, demo: DemoPages, face: "portal" | "console"): Promise<Watched> {
  const person = demo.demoPerson(face);
  const watched = await openPage(from, demo.url);
  const { page } = watched;
  await typePassword(page, `/${face}/sign-in`, person);
  if (face === "console") {
    await page.getByLabel("Code").fill(person.code());
    await page.getByRole("button", { name: "Continue" }).click();
  }
  await page.waitForURL(`/${face}`);
  return watched;
}

/** The bytes that came over the wire for the page that is open, without its images: nothing is cached. */
async function countBytes(page: Page): Promise<() => number> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const counted = new Set(["Document", "Stylesheet", "Script"]);
  const kinds = new Map<string, string>();
  let bytes = 0;
  session.on("Network.requestWillBeSent", ({ requestId, type = "" }) => {
    if (type === "Document") bytes = 0;
    kinds.set(requestId, type);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (counted.has(kinds.get(requestId) ?? "")) bytes += encodedDataLength;
  });
  return () => bytes;
}

/** Opens every page of a face that links lead to, a few of those that differ by an ID alone. */
async function* pagesFrom(page: Page, start: string): AsyncGenerator<{ path: string; status: number | undefined }> {
  const known = new Map<string, number>();
  const waiting = [start];
  const add = (address: string) => {
    const target = new URL(address, page.url());
    const { pathname, search } = target;
    const isPage = pathname.startsWith(start) && !isFileOf(target);
    const kind = kindOf(target);
    const many = known.get(kind) ?? 0;
    if (!isPage || many >= ALIKE || waiting.includes(pathname + search) || seen.has(pathname + search)) return;
    known.set(kind, many + 1);
    waiting.push(pathname + search);
  };
  const seen = new Set<string>();
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    seen.add(path);
    const response = await page.goto(path);
    yield { path, status: response?.status() };
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    for (const link of links) add(link ?? "");
  }
}
