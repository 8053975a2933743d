import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.ts";

/** What a page has to type, and the answer that it shows below: cut, or none. */
export interface Block {
  code: string;
  shown: string[];
}

/** The blocks of a page's section, in order. Throws where an answer has no command, or a fence another language. */
export function blocksOf(page: string, heading: string): Block[] {
  const text = readFileSync(join(root, page), "utf8");
  const [, section = ""] = `\n${text}`.split(`\n## ${heading}\n`);
  const [tour = ""] = section.split("\n## ");
  const blocks: Block[] = [];
  for (const [, language, content = ""] of tour.matchAll(/^```(.*)\n([\s\S]*?)\n```$/gm)) {
    const last = blocks.at(-1);
    if (language === "sh") blocks.push({ code: content, shown: [] });
    else if (language === "" && last?.shown.length === 0) last.shown = content.split("\n");
    else throw new Error(`${page}: an answer without its command, or a fence that is neither: ${content}`);
  }
  return blocks;
}

/** What differs between two runs, by its form. */
const varying = [/ORD-\d{8}-[A-Z0-9]{5}/, /8943\d{15}/, /\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/, /\d+ (?:s|min) ago/];

/**
 * The shown lines that an answer does not have, in their order: `…` is anything, spaces are any, and order numbers,
 * ICCIDs and times are those of the run.
 */
export function linesLacking(shown: readonly string[], answer: string): string[] {
  const lines = answer.split("\n");
  let from = 0;
  return shown.filter((line) => {
    if (line.trim() === "" || line.trim() === "…") return false;
    const pattern = patternOf(line);
    const at = lines.findIndex((one, index) => index >= from && pattern.test(one));
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

function patternOf(line: string): RegExp {
  const parts = line.trim().split(new RegExp(`(\\s*…\\s*|\\s+|${varying.map(({ source }) => source).join("|")})`));
  const patterns = parts.map((part) => {
    if (part.trim() === "…") return ".*";
    if (/^\s+$/.test(part)) return "\\s+";
    return varying.find((one) => one.test(part))?.source ?? part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  return new RegExp(`^\\s*${patterns.join("")}\\s*$`);
}
