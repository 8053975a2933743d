import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Marked } from "marked";
import { escapeHtml } from "../../core/kernel/html.ts";
import { page } from "./layout.ts";
import { packageRoot } from "./package-root.ts";

/** The guides for partners' developers: pages of docs/ that are served at /docs/<name>, in reading order. */
const guides = {
  api: "API guide",
  webhooks: "Receiving events",
  states: "States",
} as const;

export type Guide = keyof typeof guides;

/** The names of the guides. */
export const guideNames = Object.keys(guides) as Guide[]; // its keys are the names

/** Links to the reference, the guides and the errors; `base` is the path of /docs. */
export function docsNavigation(base: string): string {
  const at = escapeHtml(base);
  const links = [
    `<a href="${at}">API reference</a>`,
    ...guideNames.map((name) => `<a href="${at}/${name}">${guides[name]}</a>`),
    `<a href="${at}/errors">Errors</a>`,
  ];
  return `<nav>${links.join(" · ")}</nav>`;
}

/** One guide as a page, made of its Markdown in the package. */
export async function guidePage(guide: Guide, base: string): Promise<string> {
  const [text, marked] = await Promise.all([
    readFile(join(packageRoot(), "docs", `${guide}.md`), "utf8"),
    markdown(base),
  ]);
  const navigation = docsNavigation(base);
  return page(guides[guide], `${navigation}\n${await marked.parse(text)}\n${navigation}`);
}

// Loaded with the first guide that is read: a start needs none of it.
async function markdown(base: string): Promise<Marked> {
  const [{ Marked, Renderer }, { gfmHeadingId }] = await Promise.all([
    import("marked"),
    import("marked-gfm-heading-id"),
  ]);
  return new Marked(gfmHeadingId(), {
    renderer: {
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const address = servedAddress(href, base);
        return address === undefined ? words : `<a href="${escapeHtml(address)}">${words}</a>`;
      },
      // A wide table scrolls by itself on a phone.
      table(token) {
        return `<div class="scroll">${new Renderer().table.call(this, token)}</div>`;
      },
    },
  });
}

/** Where a link between pages of docs/ leads on this server; undefined for pages that are not served. */
function servedAddress(href: string, base: string): string | undefined {
  if (href.startsWith("#") || /^https?:/.test(href)) return href;
  const [, name, heading = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  const guide = guideNames.find((each) => each === name);
  return guide === undefined ? undefined : `${base}/${guide}${heading}`;
}
