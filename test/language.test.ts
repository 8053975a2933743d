import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allowedTexts, languageRules, uncheckedPaths } from "./support/language-rules.ts";
import { root } from "./support/sources.ts";

/** Text without what is allowed, and with the parts of names as words: `heardFrom` reads "heard from". */
function plain(line: string): string {
  const left = allowedTexts.reduce((text, { pattern }) => text.replace(pattern, ""), line);
  return left.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ");
}

/** Finds a line on which a rule may be broken, in a twentieth of the time of asking rule by rule. */
const anyTerm = new RegExp(languageRules.map(({ pattern }) => `(?:${pattern.source})`).join("|"), "i");

/** `path:line: term; what to say instead`, for each breach. */
function breachesIn(path: string, content: string): string[] {
  return content.split("\n").flatMap((line, at) => {
    const words = plain(line);
    if (!anyTerm.test(words)) return [];
    return languageRules.flatMap((rule) => {
      const text = `${path}:${at + 1}: ${rule.term}; say ${rule.say}`;
      return (words.match(rule.pattern) ?? []).map(() => text);
    });
  });
}

function checkedFiles(): string[] {
  const inFolders = ["bin", "docs", "scripts", "src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const all = [...inFolders, "README.md", "CHANGELOG.md", "SECURITY.md"];
  const files = all.filter((path) => /\.(ts|mjs|md)$|^bin\//.test(path));
  return files.filter((path) => !uncheckedPaths.some(({ pattern }) => pattern.test(path)));
}

test("files use the project's terms", () => {
  const breaches = checkedFiles().flatMap((path) => breachesIn(path, readFileSync(join(root, path), "utf8")));
  expect(breaches).toEqual([]);
});

test.each(languageRules)("$term is found in prose and in names", ({ pattern, example }) => {
  expect(plain(example).match(pattern)).not.toBeNull();
});

test("what is allowed is not counted", () => {
  for (const { example } of allowedTexts) expect(breachesIn("a.ts", example)).toEqual([]);
});
