import { expect, test } from "vitest";
import { shapeOptionsOf } from "../src/cli/frame/shapes.ts";
import type { Option } from "../src/cli/kernel/input.ts";
import { nouns } from "../src/cli/nouns.ts";
import { singles } from "../src/cli/singles.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

// Options of which one takes back what the other says: neither wins in silence.

const run = (words: readonly string[]) => esimctl(words, { cwd: temporaryDirectory() });

/** Each pair that excludes each other, as it would be typed. */
function pairsOf(options: readonly Option<unknown>[]): [string, string][] {
  const pairs = options.flatMap(({ flags: [first = "", ...flags], excludes = [] }) =>
    [...flags, ...excludes].map((other): [string, string] => [first, other]),
  );
  const syntax = (name: string) => options.flatMap(({ flags }) => flags).find((one) => one.split(" ")[0] === name);
  return pairs.map(([one, other]) => [one, syntax(other) ?? other]);
}

/** `--price <amount>` with a value; anything will do, as it is not looked at, but one of `--repaid <yes|no>`. */
function typed(syntax: string): string[] {
  const [name = "", value] = syntax.split(" ");
  return value === undefined ? [name] : [name, /^<(\w+)\|/.exec(value)?.[1] ?? "1"];
}

test("whatever excludes each other is refused, in whichever order", async () => {
  const verbs = nouns.flatMap(({ name, verbs: all }) => all.map((verb) => ({ words: [name, verb.name], verb })));
  const commands = [...singles.map((verb) => ({ words: [verb.name], verb })), ...verbs];
  const refused: string[] = [];
  for (const { words, verb } of commands) {
    const command = await verb.load();
    for (const pair of pairsOf(command.options)) {
      for (const [one, other] of [pair, pair.toReversed()]) {
        const line = [...words, ...typed(one ?? ""), ...typed(other ?? "")];
        const ended = await run(line);
        expect(ended, line.join(" ")).toMatchObject({
          exitCode: 2,
          stderr: expect.stringMatching(/exclude each other/),
        });
      }
      refused.push(`${words.join(" ")} ${pair.map((one) => one.split(" ")[0]).join(" ")}`);
    }
  }
  expect(refused).toEqual(
    expect.arrayContaining([
      "partners update --price-list --no-price-list",
      "partners update --agent --no-agent",
      "users update --reveal --no-reveal",
      "logs tail --follow --no-follow",
      "wallet transactions --from --since",
      "orders list --created-after --since",
      "orders refund --amount --units",
      "prices set --markup --price",
      "passports queue --all --limit",
      "audit list --all --limit",
      "activations list --date --to",
      "credentials create --live --sandbox",
    ]),
  );
});

test("of the shapes of an output one is given", async () => {
  expect(pairsOf(shapeOptionsOf({ shows: "rows" })).length).toBeGreaterThan(3);
  for (const line of ["--jq . --template x", "--csv --json", "--template x --csv"]) {
    const ended = await run(["partners", "list", ...line.split(" ")]);
    expect(`${ended.stdout}${ended.stderr}`, line).toMatch(/exclude each other/);
    expect(ended.exitCode, line).toBe(2);
  }
});

test("a field is not set and cleared at once; what is typed twice alike is no contradiction", async () => {
  for (const line of [
    "passports edit 019c --suburb Bondi --clear address,suburb",
    "activations edit 019c --passport-no N123 --clear passport-no",
  ]) {
    const field = line.includes("suburb") ? "suburb" : "passport";
    const words = new RegExp(`--${field}.* and --clear ${field}.* exclude each other`);
    expect(await run(line.split(" ")), line).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(words) });
  }
  expect((await run(["partners", "list", "--json", "--json"])).stdout).not.toMatch(/exclude/);
  const { stdout } = await run(["partners", "update", "acme", "--price-list", "gold", "--no-price-list", "--json"]);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: "usage",
    message: "--price-list and --no-price-list exclude each other.",
    hint: "Give one of them.",
  });
});
