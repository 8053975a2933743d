import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complete } from "../src/cli/frame/complete.ts";
import { nouns } from "../src/cli/nouns.ts";
import { singles } from "../src/cli/singles.ts";
import { eventKinds } from "../src/core/events/catalog.ts";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import { namesIn } from "../src/core/platform/names.ts";
import { shell } from "./support/cli.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const tree = { singles, nouns };

/** What is offered for a line; its last word, perhaps empty, is the one under the cursor. */
async function offered(line: string): Promise<string[] | string> {
  const found = await complete(line.split(" "), tree);
  if (found.kind === "words") return found.words.map(({ value }) => value);
  return found.kind === "names" ? found.naming : found.kind;
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

test("every kind of event is offered, one by one in a list with commas", async () => {
  expect(await offered("webhooks trigger ")).toEqual(eventKinds);
  const create = "webhooks create https://shop.example.com/hooks --events ";
  expect(await offered(create)).toEqual(eventKinds);
  const others = eventKinds.filter((kind) => kind !== "esims.ready");
  expect(await offered(`${create}esims.ready,ord`)).toEqual(others.map((kind) => `esims.ready,${kind}`));
});

test("values of options are not taken for nouns or verbs, wherever the options are", async () => {
  expect(await offered("--data orders ")).toEqual(await offered(""));
  expect(await offered("--json --profile x orders --data y ")).toEqual(await offered("orders "));
});

test("files, partners and profiles are offered where one is expected", async () => {
  for (const line of ["orders bulk ", "catalog export --format generic -o ", "--data ", "stock import --sku X "]) {
    expect(await offered(line.replace("-o", "--output")), line).toBe("files");
  }
  for (const line of ["orders list --partner ", "partners show ", "partners suspend --yes "]) {
    expect(await offered(line), line).toBe("partners");
  }
  expect(await offered("orders list --profile ")).toBe("profiles");
});

test("names of other records are offered where one is expected", async () => {
  const meant = {
    "credentials revoke ": "credentials",
    "products update ": "products",
    "stock import x.csv --sku ": "products",
    "orders create --product ": "products",
    "orders approve ": "orders",
    "orders esims ": "orders",
    "webhooks enable ": "webhooks",
    "webhooks deliveries --endpoint ": "webhooks",
    "carriers set ": "carriers",
    "activations queue --carrier ": "carriers",
    "suppliers set ": "suppliers",
  };
  for (const [line, naming] of Object.entries(meant)) expect(await offered(line), line).toBe(naming);
  expect(await offered("partners create ")).toEqual([]);
  expect(await offered("keys rotate ")).toEqual(["signing", "data", "master", "links"]);
});

test("names come from the data that the line names; without data nothing is printed", async () => {
  const shop = await openShop({ folder: temporaryDirectory(), stock: { EU5: 5 }, priceCents: 100, fundsCents: 1000 });
  const { data } = shop;
  const local = ["--partner", "acme", "--data", data];
  const order = Object(await esimctlJson(["orders", "create", "--product", "EU5", "--quantity", "6", ...local]));
  const made = Object(await esimctlJson(["credentials", "create", ...local, "--label", "till\x1b[2J"]));
  const lines = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await esimctl(["completion", "words", "--", ...words]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return stdout.split("\n").filter((line) => line !== "");
  };
  const at = ["--data", data];
  expect(await lines("orders", "list", ...at, "--partner", "")).toEqual([expect.stringMatching(/^acme\t/)]);
  expect(await lines("orders", "list", "--data", "=", data, "--partner", "")).toHaveLength(1);
  expect(await lines("orders", `--data=${data}`, "approve", "")).toEqual([
    expect.stringContaining(`${order.order_number}\t${order.status}`),
  ]);
  expect(await lines("orders", "show", ...local, "")).toEqual([`${order.order_number}\t${order.status}, EU5`]);
  expect(await lines("orders", "show", ...local, "--sandbox", "")).toEqual([]);
  expect(await lines("credentials", "revoke", ...at, "")).toContain(`${made.client_id}\ttill`);
  expect(await lines("products", "update", ...at, "")).toEqual([expect.stringMatching(/^EU5\t/)]);
  expect(await lines("carriers", "set", ...at, "")).not.toEqual([]);
  for (const kind of ["suppliers set", "webhooks enable"])
    expect(await lines(...kind.split(" "), ...at, "")).toEqual([]);
  // Directly too: in the shell a failing query would look like no match.
  const { databaseFile } = dataDirectory(data);
  const owner = { slug: "acme", environment: "production" } as const;
  for (const naming of ["partners", "credentials", "products", "orders", "carriers"] as const)
    expect(namesIn(databaseFile, naming, owner), naming).not.toEqual([]);
  for (const naming of ["webhooks", "suppliers"] as const) {
    for (const whose of [owner, null]) expect(namesIn(databaseFile, naming, whose), naming).toEqual([]);
  }
  expect(await lines("orders", "list", "--data", `${data}-not`, "--partner", "")).toEqual([]);
  expect(await lines("orders", "list", "--server", "http://127.0.0.1:9", "--partner", "")).toEqual([]);
});

/** A folder with an `esimctl` in it, for a shell that looks there first. */
function folderWithProgram(): string {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "esimctl"), '#!/bin/sh\nexec $ESIMCTL "$@"\n', { mode: 0o755 });
  return folder;
}

const inShell = (name: string) => ["/bin", "/usr/bin", "/usr/local/bin"].find((at) => existsSync(join(at, name)));

test.skipIf(inShell("fish") === undefined)("fish completes from the printed candidates", async () => {
  const folder = folderWithProgram();
  const lines = [
    `set -gx PATH ${folder} $PATH`,
    "esimctl completion fish | source",
    "for line in 'esimctl pass' 'esimctl webhooks dis' 'esimctl partners create x --tier s' 'esimctl orders bulk sa'",
    "    complete -C $line",
    "end",
  ];
  writeFileSync(join(folder, "sample.csv"), "");
  writeFileSync(join(folder, "try.fish"), lines.join("\n"));
  expect((await shell("HOME=$PWD fish --no-config try.fish", folder)).stdout.split("\n")).toEqual([
    expect.stringMatching(/^passports\tthe identity pool/),
    expect.stringMatching(/^disable\t/),
    "standard",
    "sample.csv",
  ]);
});

test.skipIf(inShell("zsh") === undefined)("zsh completes from the printed candidates", async () => {
  const folder = folderWithProgram();
  // The function by which zsh draws is replaced: it needs a terminal.
  const lines = [
    `path=(${folder} $path)`,
    "compdef() { registered=$*; }",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: zsh's own
    "_describe() { print -l ${(P)2} }",
    "_files() { print files }",
    "esimctl completion zsh > _esimctl; source ./_esimctl; print $registered",
    'try() { words=(esimctl "$@"); CURRENT=$#words; _esimctl; }',
    "try partners create x --tier ''; try orders bulk ''; try keys rotate ''",
  ];
  writeFileSync(join(folder, "try.zsh"), lines.join("\n"));
  expect((await shell("zsh -f try.zsh", folder)).stdout.split("\n")).toEqual([
    "_esimctl esimctl",
    "standard:",
    "premium:",
    "files",
    "signing:",
    "data:",
    "master:",
    "links:",
  ]);
});

test("bash completes from the printed candidates", async () => {
  const folder = folderWithProgram();
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

const NASTY = [
  "$(touch ran)",
  "`touch ran`",
  "a; touch ran",
  "b c",
  `it's "d"`,
  "e\\",
  "f&touch ran",
  "*",
  "~g",
  "!!",
  "h:i",
];

/** A shop whose SKUs hold what shells act on; each begins with an N and a character that no other has. */
async function shopOfNastyNames(): Promise<{ data: string; known: string[] }> {
  const folder = temporaryDirectory();
  const skus = ["plain-1", ...NASTY.map((text) => `N${text}`)];
  const products = [...skus, "N\ntouch ran", "N\u001b[2J"].map((sku) => ({
    ...{ sku, name: sku, region: "Europe", coverage: ["FR"], data_amount_mb: 1, validity_days: 1, price_cents: 1 },
    ...{ currency: "EUR", type: "data_only", product_type: "esim_qr_pregen", delivery_method: "stock" },
  }));
  writeFileSync(join(folder, "products.json"), JSON.stringify(products));
  const { data } = await openShop({ folder, stock: {}, priceCents: 100, fundsCents: 1000 });
  await esimctl(["products", "import", join(folder, "products.json"), "--data", data]);
  return { data, known: namesIn(dataDirectory(data).databaseFile, "products", null).map(({ value }) => value) };
}

test("bash inserts any name as one word, and runs nothing of it", async () => {
  const folder = folderWithProgram();
  const { data, known } = await shopOfNastyNames();
  const tried = [
    `PATH=${folder}:$PATH; source <(esimctl completion bash)`,
    `COMP_WORDS=(esimctl products update --data ${data} ""); COMP_CWORD=5; _esimctl 2>/dev/null`,
    // What Tab puts on the line, read as the shell reads the line at Enter.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
    'for word in "${COMPREPLY[@]}"; do eval "set -- $word"; printf "%s %s\\n" $# "$1"; done',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
    'COMP_WORDS[5]="N\\\\$"; _esimctl 2>/dev/null; echo "${#COMPREPLY[@]}"',
  ];
  const { stdout } = await shell(tried.join("\n"), folder);
  const lines = stdout.split("\n");
  expect(lines.pop(), "what is quoted already is continued").toBe("1");
  const offered = lines.map((line) => line.replace(/^1 /, ""));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  expect(offered).toEqual(known.filter((sku) => !/[\0-\x1f]/.test(sku)));
  expect(known).toEqual(expect.arrayContaining(["N$(touch ran)", "N`touch ran`", "Na; touch ran"]));
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

/** What is typed for the first two characters of a name. To fish a backtick is an ordinary character. */
const begun = (sku: string, shell: "zsh" | "fish") =>
  sku.slice(0, 2).replaceAll(shell === "zsh" ? /[$`*~!]/g : /[$*~]/g, "\\$&");

/** A terminal of that shell, which writes each line that Tab completed into the file `typed`. */
async function completedIn(name: "zsh" | "fish", start: string[]): Promise<{ folder: string; names: string[] }> {
  const { data } = await shopOfNastyNames();
  const folder = temporaryDirectory();
  const offered = await esimctl(["completion", "words", "--", "products", "update", "--data", data, ""]);
  writeFileSync(join(folder, "offered"), `${offered.stdout}\n`);
  // The program answers the same each time: one run of it serves all.
  writeFileSync(join(folder, "esimctl"), `#!/bin/sh\ncat ${folder}/offered\n`, { mode: 0o755 });
  writeFileSync(join(folder, `script.${name}`), `${(await esimctl(["completion", name])).stdout}\n`);
  const keys = NASTY.map((text) => `esimctl products update ${begun(`N${text}`, name)}\t\x0f`).join("");
  writeFileSync(join(folder, "keys"), keys);
  const lines = [
    "zmodload zsh/zpty; export HOME=$PWD TERM=dumb; path=($PWD $path)",
    `zpty shell ${name === "zsh" ? "zsh -f" : "fish --no-config"} -i`,
    ...start.map((line) => `zpty -w shell ${line}`),
    'zpty -w -n shell "$(<keys)"',
    "zpty -w -n shell $'exit\\n'",
    "zpty -r shell > screen",
    // Read as the shell reads the line at Enter.
    name === "zsh"
      ? 'while IFS= read -r line; do eval "set -- $line"; print -r -- "$# $4"; done < typed'
      : "fish --no-config -c 'while read -l line; eval set words $line; echo (count $words) $words[4]; end' < typed",
  ];
  writeFileSync(join(folder, "drive.zsh"), lines.join("\n"));
  const { stdout } = await shell("zsh -f drive.zsh", folder);
  return { folder, names: stdout.split("\n") };
}

test.skipIf(inShell("zsh") === undefined)("zsh inserts any name as one word, and runs nothing of it", async () => {
  const { folder, names } = await completedIn("zsh", [
    "'PS1=; autoload -Uz compinit; compinit -D -u; source ./script.zsh'",
    `'dump() { print -r -- "$BUFFER" >> typed; BUFFER=; }; zle -N dump; bindkey "^O" dump'`,
  ]);
  expect(names).toEqual(NASTY.map((text) => `4 N${text}`));
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

const withBoth = inShell("zsh") !== undefined && inShell("fish") !== undefined;

// zsh holds the terminal that fish runs in.
test.skipIf(!withBoth)("fish inserts any name as one word, and runs nothing of it", async () => {
  const { folder, names } = await completedIn("fish", [
    "'source ./script.fish'",
    `'function dump; commandline >> typed; commandline ""; end; bind \\co dump'`,
  ]);
  expect(names).toEqual(NASTY.map((text) => `4 N${text}`));
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

test("the manual has every command with its options, and escapes what man would interpret", async () => {
  const { exitCode, stdout } = await esimctl(["help", "--man"]);
  expect(exitCode).toBe(0);
  const sections = stdout.split("\n").filter((line) => line.startsWith(".SS"));
  for (const noun of nouns) {
    for (const { name } of noun.verbs)
      expect(sections).toContain(`.SS "${`${noun.name} ${name}`.replaceAll("-", "\\-")}"`);
  }
  expect(stdout).toContain("\\-\\-idempotency\\-key <key>");
  expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
  const controls = stdout.split("\n").filter((line) => /^[.']/.test(line));
  expect(controls.filter((line) => !/^\.(TH|nh|ad|SH|SS|TP|PP|B|nf|fi)( |$)/.test(line))).toEqual([]);
});
