import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { complete } from "../src/cli/completion/complete.ts";
import { nouns, singles } from "../src/cli/nouns.ts";
import { esimctl, shell } from "./support/cli.ts";
import { temporaryDirectory } from "./support/store.ts";

vi.setConfig({ testTimeout: 60_000 });

const tree = { singles, nouns };

/** What is offered for a line; its last word, perhaps empty, is the one under the cursor. */
async function offered(line: string): Promise<string[] | string> {
  const found = await complete(line.split(" "), tree);
  return found.kind === "words" ? found.words.map(({ value }) => value) : found.kind;
}

test("nouns, then verbs, then options and their choices", async () => {
  expect(await offered("")).toEqual([...singles, ...nouns].map(({ name }) => name));
  expect(await offered("orders ")).toEqual(expect.arrayContaining(["create", "bulk", "list", "esims"]));
  expect(await offered("orders list --")).toEqual(
    expect.arrayContaining(["--status", "--partner", "--json", "--server"]),
  );
  expect(await offered("partners list --")).not.toContain("--sandbox");
  expect(await offered("partners create acme --tier ")).toEqual(["standard", "premium"]);
  expect(await offered("partners create acme --tier = st")).toEqual(["standard", "premium"]);
  expect(await offered("partners create acme --name ")).toEqual([]);
  expect(await offered("orders nosuch ")).toEqual([]);
  expect(await offered("nosuch ")).toEqual([]);
});

test("values of options are no nouns and no verbs, wherever the options stand", async () => {
  expect(await offered("--data orders ")).toEqual(await offered(""));
  expect(await offered("--json --profile x orders --data y ")).toEqual(await offered("orders "));
});

test("files, partners and profiles where one is meant", async () => {
  for (const line of ["orders bulk ", "catalog export --format generic -o ", "--data ", "stock import --sku X "]) {
    expect(await offered(line.replace("-o", "--output")), line).toBe("files");
  }
  for (const line of ["orders list --partner ", "partners show ", "partners suspend --yes "]) {
    expect(await offered(line), line).toBe("partners");
  }
  expect(await offered("orders list --profile ")).toBe("profiles");
});

test("names of partners come from the data that the line names; where there is none, nothing is said", async () => {
  const data = join(temporaryDirectory(), "data");
  for (const line of ["init", "partners create acme --name Acme"]) await esimctl([...line.split(" "), "--data", data]);
  const ask = (...words: string[]) => esimctl(["completion", "words", "--", ...words]);
  expect(await ask("orders", "list", "--data", data, "--partner", "")).toMatchObject({ stdout: "acme\tAcme" });
  expect(await ask("orders", "list", "--data", `${data}-not`, "--partner", "")).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "",
  });
});

test("bash completes with what it is given", async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "esimctl"), '#!/bin/sh\nexec $ESIMCTL "$@"\n', { mode: 0o755 });
  const tried = [
    `PATH=${folder}:$PATH; source <(esimctl completion bash)`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
    'try() { COMP_WORDS=(esimctl "$@"); COMP_CWORD=$#; COMPREPLY=(); _esimctl 2>/dev/null; echo "${COMPREPLY[*]}"; }',
    "try pass; try webhooks dis; try orders list --st; try partners create x --tier = s; complete -p esimctl",
  ];
  expect((await shell(tried.join("\n"), folder)).stdout.split("\n")).toEqual([
    "passports",
    "disable",
    "--status",
    "standard",
    "complete -F _esimctl esimctl",
  ]);
  expect(await esimctl(["completion", "tcsh"])).toMatchObject({ exitCode: 2 });
});

test("the manual has every command with its options, and nothing that man would take for its own", async () => {
  const { exitCode, stdout } = await esimctl(["help", "--man"]);
  expect(exitCode).toBe(0);
  const sections = stdout.split("\n").filter((line) => line.startsWith(".SS"));
  for (const noun of nouns) {
    for (const { name } of await noun.verbs())
      expect(sections).toContain(`.SS "${`${noun.name} ${name}`.replaceAll("-", "\\-")}"`);
  }
  expect(stdout).toContain("\\-\\-idempotency\\-key <key>");
  expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
  const controls = stdout.split("\n").filter((line) => /^[.']/.test(line));
  expect(controls.filter((line) => !/^\.(TH|nh|ad|SH|SS|TP|PP|B|nf|fi)( |$)/.test(line))).toEqual([]);
});
