import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { eventually, HANG_MS } from "./hangs.ts";
import type { Owner } from "./owner.ts";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Starts the browser of this machine; it ends with its owner. */
export async function startBrowser(owner: Owner): Promise<Browser> {
  if (!existsSync(PROGRAM))
    throw new Error(`There is no browser at ${PROGRAM}: install chromium, or name it in CHROMIUM.`);
  const browser = await chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox"] });
  owner(() => browser.close());
  return browser;
}

/** How a person uses the pages. */
export const modes = ["with scripts", "without scripts", "360 px wide", "by keyboard"] as const;
export type Mode = (typeof modes)[number];

const contexts: Readonly<Record<Mode, BrowserContextOptions>> = {
  "with scripts": {},
  "without scripts": { javaScriptEnabled: false },
  "360 px wide": { viewport: { width: 360, height: 740 } },
  "by keyboard": {},
};

/** A page of a browser of its own, and all that it complained of: on its console, or by asking another host. */
export interface Watched {
  page: Page;
  complaints: string[];
}

/** Opens a page that is watched. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ baseURL: url, locale: "en-GB", ...options });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // The browser reports a refused form as a resource that failed; that it is refused is what a test is about.
    const isRefusal = /the server responded with a status of 4\d\d/.test(message.text());
    if (!isRefusal && /error|warning/.test(message.type())) complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin) complaints.push(`${page.url()} asks ${request.url()}`);
  });
  return { page, complaints };
}

/** What axe is to look for. */
type RunOnly = { type: "rule" | "tag"; values: string[] };

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Those of axe's rules that look at colors. */
export const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** What axe finds against WCAG 2.2 AA on a page as it is, or by `rules` alone: the rule, and the elements. */
export async function axeFindings(page: Page, rules: string[] = []): Promise<string[]> {
  const runOnly: RunOnly = rules.length > 0 ? { type: "rule", values: rules } : { type: "tag", values: WCAG };
  // Sending axe to a page takes longer than looking at it: each page that is opened here from now on loads it itself.
  const loaded = await page.evaluate(() => "axe" in window);
  if (!loaded) await page.addInitScript({ content: axe.source });
  const builder = new AxeBuilder({ page, ...(loaded && { axeSource: ";" }) });
  // No frames here: the other mode opens a second page for each analysis. Nor is what is right listed by element.
  const looking = builder.setLegacyMode(true).options({ runOnly, resultTypes: ["violations"] });
  const { violations } = await looking.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 200)}: ${failureSummary.split("\n").at(-1)}`),
  );
}

/** A person at a browser, who finds things by their words. */
export type Hand = Awaited<ReturnType<typeof openHand>>;

/** Opens a browser that is used in one way. Each page that it comes to is checked for what holds in this way. */
export async function openHand(browser: Browser, url: string, mode: Mode) {
  const { page, complaints } = await openPage(browser, url, contexts[mode]);
  const faults: string[] = [];
  const fingers = fingersOn(page, mode === "by keyboard");

  /** Does what leads to another page, loaded or put in the place of this one, and waits for that. */
  async function going(act: () => Promise<void>): Promise<void> {
    const before = await page.locator("main").elementHandles();
    await act();
    // One of a page that is gone cannot be asked.
    const isThere = () => before[0]?.evaluate((main) => main.isConnected).catch(() => false);
    await eventually(isThere, (there) => there !== true);
    await page.waitForLoadState("load");
    faults.push(...(await faultsOf(page, mode)));
  }

  const text = async () => (await page.locator("main").innerText()).replace(/\s+/g, " ").trim();
  const named = (role: "button" | "link", name: string | RegExp) => page.getByRole(role, { name, exact: true }).first();

  return {
    ...fingers,
    page,
    complaints,
    faults,
    hasScripts: mode !== "without scripts",
    open: (path: string) => going(async () => void (await page.goto(path))),
    tick: (target: Locator) => fingers.use(target, "Space"),
    /** Opens what is folded. */
    unfold: (words: string) => fingers.use(page.locator("summary", { hasText: words }), "Enter"),
    /** Presses a button that sends its form. */
    send: (name: string) => going(() => fingers.use(named("button", name), "Enter")),
    follow: (name: string | RegExp) => going(() => fingers.use(named("link", name), "Enter")),
    /** The words of the page's main part, blanks folded. */
    text,
    /** Loads the page again until it has these words. */
    async until(words: RegExp): Promise<void> {
      if (words.test(await text())) return;
      const again = async () => {
        await page.reload();
        return text();
      };
      await eventually(again, (found) => words.test(found));
      faults.push(...(await faultsOf(page, mode)));
    },
  };
}

/** What is wrong with a page for those who use it in this way. */
async function faultsOf(page: Page, mode: Mode): Promise<string[]> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  if (mode === "360 px wide" && width > 360) return [`${page.url()} is ${width} px wide`];
  return mode === "with scripts" ? (await axeFindings(page)).map((finding) => `${page.url()}: ${finding}`) : [];
}

/** What a person does within a page: with a mouse, or by the keyboard alone. */
function fingersOn(page: Page, isTyping: boolean) {
  const field = (label: string) => page.getByLabel(label, { exact: true });
  return {
    /** Clicks on something, or comes to it and presses a key. */
    async use(target: Locator, key: "Enter" | "Space"): Promise<void> {
      if (!isTyping) return target.click();
      await focus(page, target);
      await page.keyboard.press(key);
    },
    /** Types into a field in place of what is there. */
    async fill(label: string, text: string): Promise<void> {
      if (!isTyping) return field(label).fill(text);
      await focus(page, field(label));
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text);
    },
    /** Chooses one of some words. */
    async choose(label: string, words: string): Promise<void> {
      if (!isTyping) return void (await field(label).selectOption({ label: words }));
      await focus(page, field(label));
      await page.keyboard.type(words);
    },
    /** Chooses a file. */
    async upload(label: string, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
      if (!isTyping) return field(label).setInputFiles(file);
      // Asked for before the way to the field, as a busy browser takes a moment until it passes its dialogs on.
      const dialog = page.waitForEvent("filechooser");
      await focus(page, field(label));
      await page.keyboard.press("Space");
      await (await dialog).setFiles(file);
    },
  };
}

/** More than any page has. */
const MOST_STOPS = 400;

/** Goes on by Tab until an element has the focus, and shows that it has. */
async function focus(page: Page, target: Locator): Promise<void> {
  const element = await target.elementHandle();
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    const ring = await element?.evaluate((one) => one === document.activeElement && getComputedStyle(one).outlineStyle);
    if (ring === "none") throw new Error(`${target} has the focus and does not show it`);
    if (ring) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not come to ${target} at ${page.url()}`);
}
