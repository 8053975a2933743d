/** @module-tag slow */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProducts } from "../support/catalog.ts";
import { deliverEsim } from "../support/esims.ts";
import { startPlatform } from "../support/platform.ts";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** The smallest touch target that platforms recommend. */
const FINGER = 44;

let browser: Browser;

beforeAll(async () => {
  if (!existsSync(PROGRAM))
    throw new Error(`There is no browser at ${PROGRAM}: install chromium, or name it in CHROMIUM.`);
  browser = await chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox"] });
});

afterAll(() => browser?.close());

/** The page of a delivered eSIM on a phone without scripts, and all that the browser complained of. */
async function onPhone(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
  const platform = await startPlatform({ publicUrl: "bound" });
  const products = await addProducts(platform.store, [{ sku: "EU5", name: "Europe 5 GB, 30 days" }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const stock = { sku: "EU5", product: products.EU5, iccid: "8944590004463637008" };
  const { installUrl } = await deliverEsim(platform, caller, stock);
  const phone = { isMobile: true, hasTouch: true, deviceScaleFactor: 2, javaScriptEnabled: false };
  const context = await browser.newContext({ ...phone, viewport: { width: 390, height: 844 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("requestfailed", (request) => complaints.push(request.url()));
  await page.goto(installUrl);
  return { page, complaints };
}

test.each([
  ["en-GB", "en", "Install your eSIM"],
  ["de-DE", "de", "eSIM installieren"],
  ["fr-FR", "fr", "Installer votre eSIM"],
  ["es-ES", "es", "Instala tu eSIM"],
  ["ja-JP", "ja", "eSIMのインストール"],
  ["zh-CN", "zh-Hans", "安装您的 eSIM"],
])("a phone set to %s shows the whole page in its language, without scripts", async (locale, language, title) => {
  const { page, complaints } = await onPhone({ locale });
  expect(await page.locator("html").getAttribute("lang")).toBe(language);
  expect(await page.locator("h1").innerText()).toBe(title);
  expect(await overflow(page)).toBe(0);
  for (const button of await page.locator("a.button").all()) {
    const box = await button.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(FINGER);
    expect(box?.width).toBeGreaterThan(300);
  }
  expect(await page.locator("a.button").count()).toBe(2);
  expect(complaints).toEqual([]);
});

test("the QR code is drawn, large enough to be scanned, also in the dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, complaints } = await onPhone({ colorScheme });
    const code = page.locator("img.qr");
    expect(await code.evaluate((image) => "naturalWidth" in image && image.naturalWidth)).toBeGreaterThan(0);
    expect((await code.boundingBox())?.width).toBeGreaterThanOrEqual(240);
    // An empty box of this size is a few hundred bytes of PNG; the modules of a code are thousands.
    expect((await code.screenshot()).length).toBeGreaterThan(2_000);
    expect(complaints).toEqual([]);
  }
});

test("the narrowest phones need no sideways scrolling either", async () => {
  for (const width of [320, 280]) {
    const { page } = await onPhone({ viewport: { width, height: 640 }, locale: "de-DE" });
    expect(await overflow(page)).toBe(0);
  }
});

/** How many pixels the page is wider than the phone. */
function overflow(page: Page): Promise<number> {
  return page.locator("html").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
}
