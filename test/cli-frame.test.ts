import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import packageFile from "../package.json" with { type: "json" };
import { nouns } from "../src/cli/nouns.ts";
import { singles } from "../src/cli/singles.ts";
import { type Ended, esimctl as esimctlProcess, shell } from "./support/cli.ts";
import { newData } from "./support/installation.ts";
import { launch } from "./support/process.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

function failure(ended: Ended): { code: string; message: string; hint: string } {
  const document = JSON.parse(ended.stdout);
  expect(Object.keys(document)).toEqual(["error"]);
  return document.error;
}

test("--version is one line, alone and beside other flags", async () => {
  const shown = { exitCode: 0, stdout: packageFile.version, stderr: "" };
  expect(await esimctlProcess(["--version"])).toEqual(shown);
  for (const line of ["-v", "-V", "version", "--quiet --version", "--quiet -v", "--quiet -V"])
    expect(await esimctl(line.split(" ")), line).toEqual(shown);
  expect(await esimctlJson(["version"])).toEqual({ version: packageFile.version });
});

describe("help", () => {
  test("no argument, help and --help show the nouns", async () => {
    const shown = await esimctlProcess([]);
    expect(shown.exitCode).toBe(0);
    for (const { name } of [...nouns, ...singles]) expect(shown.stdout).toContain(`  ${name}`);
    expect(await esimctl(["help"])).toEqual(shown);
    expect(await esimctl(["--help"])).toEqual(shown);
  });

  test("lists mark which commands work on the data at hand, at a server, or at both", async () => {
    const { stdout } = await esimctl(["--help"]);
    for (const line of ["serve +data +run", "login +server +sign", "whoami +both +where", "completion +- +compl"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${line}`, "m"));
    }
    for (const line of ["stock +data", "catalog +both", "orders +mixed"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${line} `, "m"));
    }
    const orders = await esimctl(["orders", "--help"]);
    expect(orders.stdout).toMatch(/^ {2}create +both +order.*[\s\S]*^ {2}approve +data +approve/m);
    for (const shown of [stdout, orders.stdout]) expect(shown).toContain("\ndata: on the operator's data at hand.");
  });

  test("a verb's help has its effects, examples and exit codes, by help and by --help", async () => {
    const shown = await esimctl(["orders", "create", "--help"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    for (const part of ["--idempotency-key", "--partner <slug>", "--json", "Effects:", "Charges the wallet"]) {
      expect(shown.stdout).toContain(part);
    }
    expect(shown.stdout).toContain("$ esimctl orders create --partner acme");
    expect(shown.stdout).toContain("4 not authorized");
    expect(await esimctl(["help", "orders", "create"])).toEqual(shown);
  });

  test("help of an unknown command is wrong usage, with what may have been meant", async () => {
    const noun = await esimctl(["help", "ordrs"]);
    expect(noun).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("Did you mean orders?") });
    const verb = await esimctl(["help", "orders", "creat"]);
    expect(verb).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("Did you mean create?") });
    expect((await esimctl(["help", "orders", "nope"])).exitCode).toBe(2);
  });

  test("the usage line has every required argument", async () => {
    const shown = await esimctl(["wallet", "credit", "--help"]);
    const needed = "--partner <slug> --amount <amount> --currency <code> [options]";
    expect(shown.stdout).toContain(`Usage: esimctl wallet credit ${needed}\n`);
    expect((await esimctl(["partners", "show", "--help"])).stdout).toContain(
      "esimctl partners show <slug> [options]\n",
    );
  });

  test("a noun alone shows its help, as does a verb of two words without the second", async () => {
    for (const line of ["orders", "esims usage"]) {
      const shown = await esimctl(line.split(" "));
      expect(shown, line).toEqual(await esimctl([...line.split(" "), "--help"]));
      expect(await esimctl([...line.split(" "), "--quiet"]), line).toEqual(shown);
      expect(shown, line).toMatchObject({ exitCode: 0, stderr: "" });
    }
    expect((await esimctl(["esims", "usage"])).stdout).toContain(
      "Usage: esimctl esims usage import <file> [options]\n",
    );
    const { stdout } = await esimctl(["orders"]);
    expect(stdout).not.toContain("display help");
    expect(stdout.match(/^[A-Z]\w+:$/gm)).toEqual(["Options:", "Verbs:"]);
    expect((await esimctl(["orders", "--color"])).exitCode).toBe(2);
  });

  test("every verb has its own examples and names its effects", async () => {
    const verbs = nouns.flatMap((noun) => noun.verbs.map((verb) => ({ ...verb, name: `${noun.name} ${verb.name}` })));
    for (const { name: line, works, load } of [...verbs, ...singles]) {
      const verb = await load();
      if (verb.target !== "process") expect(works, line).toBe(verb.target === "operator" ? "data" : "both");
      expect(verb.examples.length, line).toBeGreaterThan(0);
      for (const example of verb.examples) expect(`${example} `.startsWith(`${line} `), example).toBe(true);
      expect(verb.effects, line).toMatch(/\.$/);
    }
  });
});

describe("wrong usage", () => {
  const wrong: [line: string, what: RegExp, hint: RegExp][] = [
    ["ordrs list", /Unknown command 'ordrs'/, /Did you mean orders\?/],
    ["orders lst", /Unknown command 'lst'/, /Did you mean list\? Or see esimctl orders --help/],
    ["--quiet", /esimctl needs a noun/, /esimctl --help/],
    ["orders list --limt 3", /Unknown option '--limt'/, /Did you mean --limit\?/],
    ["partners show", /Missing required argument 'slug'/, /esimctl partners show --help/],
    ["partners show a b", /Too many arguments/, /esimctl partners show --help/],
    ["partners create acme", /Required option '--name/, /esimctl partners create --help/],
    ["partners create acme --name A --tier gold", /Allowed choices are standard, premium/, /--help/],
    ["partners update acme", /nothing to change/, /--tier/],
    ["orders create --product X --quantity 0 --partner a", /--quantity <n> must be a whole number/, /Correct/],
    ["wallet credit --partner a --amount 1,5 --currency AUD", /--amount <amount> must be a plain decimal/, /Correct/],
    [
      "wallet credit --partner a --amount 0.001 --currency AUD",
      /--amount has 3 digits after the point; AUD has 2/,
      /plain decimal/,
    ],
    ["wallet credit --partner a --amount 1 --currency XYQ", /The currency must be an ISO 4217/, /AUD/],
    ["serve --port 70000", /--port <n> must be a whole number/, /Correct/],
    ["serve --smtp-url secret@mail", /--smtp-url .* is no address of a mail server/, /smtp:\/\/user:password@/],
    ["serve --public-url nowhere", /--public-url <url> must be an address/, /Correct/],
    ["partners list --data x --database postgres://y", /--data and --database name two places/, /one of them/],
    ["partners list --database postgres://y", /needs its key file/, /--key-file/],
  ];

  test.each(wrong)("%s", async (line, what, hint) => {
    const human = await esimctl(line.split(" "), { cwd: temporaryDirectory() });
    expect(human).toMatchObject({ exitCode: 2, stdout: "" });
    const [first = "", second = "", ...more] = human.stderr.split("\n");
    expect(first).toMatch(what);
    expect(second).toMatch(hint);
    expect(more).toEqual([]);
  });

  test("with --json it is one document on stdout and nothing else", async () => {
    for (const args of [
      ["ordrs", "--json"],
      ["--json", "orders"],
      ["esims", "usage", "--json"],
      ["partners", "show", "--json"],
    ]) {
      const ended = await esimctlProcess(args);
      expect(ended).toMatchObject({ exitCode: 2, stderr: "" });
      expect(failure(ended)).toMatchObject({ code: "usage", message: /./, hint: /./ });
    }
  });

  test("two places in the environment are refused, unless an option decides", async () => {
    const data = await newData();
    const env = { ESIMCTL_DATA: "x", ESIMCTL_DATABASE: "postgres://y" };
    expect((await esimctl(["partners", "list"], { env })).stderr).toMatch(/ESIMCTL_DATA and ESIMCTL_DATABASE/);
    expect((await esimctl(["partners", "list", "--data", data], { env })).exitCode).toBe(0);
    expect((await esimctl(["partners", "list"], { env: { ESIMCTL_DATA: data } })).exitCode).toBe(0);
  });
});

test("global options go before or after the verb, with underscores or hyphens", async () => {
  const data = await newData();
  const wanted = { data: [], count: 0 };
  expect(await esimctlJson(["--data", data, "partners", "list", "--yes"])).toEqual(wanted);
  expect(await esimctlJson(["partners", "--quiet", "--no-color", "list", `--data=${data}`])).toEqual(wanted);
  expect(
    await esimctlJson(["products", "list", "--sort_by=name", "--sort_order", "asc", "--data", data]),
  ).toMatchObject({
    data: [],
  });
});

test("the program ends silently when its reader closes the pipe", { tags: ["slow"] }, async () => {
  const data = await newData();
  const products = Array.from({ length: 3000 }, (_, n) => ({
    ...{ sku: `P-${n}`, name: "A name that takes some room, so that the pipe is full soon", region: "Asia" },
    ...{ coverage: ["JP"], data_amount_mb: 1024, validity_days: 7, price_cents: 100, currency: "AUD" },
    ...{ type: "data_only", product_type: "esim_qr_pregen", delivery_method: "stock" },
  }));
  writeFileSync(join(data, "..", "p.json"), JSON.stringify(products));
  expect((await esimctl(["products", "import", join(data, "..", "p.json"), "--data", data])).exitCode).toBe(0);
  const line = `set -o pipefail; $ESIMCTL products list --all --json --data ${data} | head -1`;
  expect(await shell(line, data)).toEqual({ exitCode: 0, stdout: "{", stderr: "" });
});

test("output that cannot be written ends in words, whatever its form", async () => {
  const data = await newData();
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--data", data]);
  for (const form of ["", "--json", "--csv"]) {
    const ended = await shell(`$ESIMCTL partners list ${form} --data ${data} > /dev/full`, data);
    expect(ended, form).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ended.stderr, form).toMatch(/^error: The output could not be written: no space left on device\.\n→ .*$/);
  }
});

test("a missing option that only others require is named, with exit code 2", async () => {
  const data = await newData();
  const lines: [string, RegExp][] = [
    ["carriers set 8944", /--name <name> is required for a new carrier; --brand <brand> is required/],
    ["carriers set 896103 --adapter http", /--url <url> is needed by the http adapter; --secret <secret>/],
    ["suppliers set acme --adapter email", /--to <address> is needed by the email adapter/],
  ];
  for (const [line, words] of lines) {
    const ended = await esimctl([...line.split(" "), "--data", data]);
    expect(ended, line).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(words) });
  }
  // An invalid value is no missing option.
  const wrong = await esimctl(["carriers", "set", "896103", "--adapter", "http", "--url", "x", "--data", data]);
  expect(wrong.exitCode).toBe(1);
});

describe("a place that cannot be used", () => {
  async function refused(args: string[]): Promise<{ code: string; message: string; hint: string }> {
    const human = await esimctl(args);
    expect(human).toMatchObject({ exitCode: 1, stdout: "" });
    expect(human.stderr.split("\n")).toHaveLength(2);
    const json = await esimctl([...args, "--json"]);
    expect(json).toMatchObject({ exitCode: 1, stderr: "" });
    return failure(json);
  }

  test("no data directory: names init", async () => {
    const { code, hint } = await refused(["partners", "list", "--data", join(temporaryDirectory(), "none")]);
    expect(code).toBe("not_initialised");
    expect(hint).toMatch(/esimctl init/);
  });

  test("a directory that cannot be written", async () => {
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "");
    const { message, hint } = await refused(["init", "--data", join(file, "data")]);
    expect(message).toMatch(/Cannot write/);
    expect(hint).toMatch(/you may write to/);
  });

  test("a directory of another program", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "thesis.doc"), "");
    expect((await refused(["init", "--data", directory])).message).toMatch(/holds no esimctl data/);
    expect((await refused(["serve", "--data", directory])).message).toMatch(/holds no esimctl data/);
  });

  test("a database without its key file: never a new key", async () => {
    const data = await newData();
    rmSync(join(data, "esimctl.key"));
    for (const verb of [["partners", "list"], ["init"], ["serve"]]) {
      expect((await refused([...verb, "--data", data])).message).toMatch(/key file .* is missing/);
    }
  });

  test("a key file of another database", async () => {
    const data = await newData();
    const other = join(temporaryDirectory(), "other");
    expect((await esimctl(["init", "--data", other])).exitCode).toBe(0);
    copyFileSync(join(other, "esimctl.key"), join(data, "esimctl.key"));
    expect((await refused(["partners", "list", "--data", data])).message).toMatch(/does not belong/);
  });

  test("a damaged database", async () => {
    const data = await newData();
    writeFileSync(join(data, "esimctl.db"), "this is no database at all, whatever its name says\n".repeat(200));
    for (const verb of [["partners", "list"], ["serve"]]) {
      const { message, hint } = await refused([...verb, "--data", data]);
      expect(message).toMatch(/damaged/);
      expect(hint).toMatch(/[Rr]estore/);
    }
  });

  test("a database of a newer version", async () => {
    const data = await newData();
    const database = new Database(join(data, "esimctl.db"));
    database.exec("INSERT INTO schema_history (name, digest) VALUES ('9999_from_the_future', 'x')");
    database.close();
    const { message, hint } = await refused(["partners", "list", "--data", data]);
    expect(message).toMatch(/newer than this program/);
    expect(hint).toMatch(/version/);
  });
});

test("a second init changes nothing", async () => {
  const data = join(temporaryDirectory(), "data");
  const first = await esimctlJson(["init", "--data", data]);
  expect(first).toEqual({ place: data, key_file: join(data, "esimctl.key"), created: true });
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--data", data]);
  expect(await esimctlJson(["init", "--data", data])).toEqual({ ...Object(first), created: false });
  expect(await esimctlJson(["partners", "list", "--data", data])).toMatchObject({ count: 1 });
});

test("--verbose adds the stack", async () => {
  const data = await newData();
  const short = await esimctl(["partners", "show", "absent", "--data", data]);
  expect(short).toMatchObject({ exitCode: 1, stdout: "" });
  expect(short.stderr).toMatch(/^error: No such partner: absent\.\n→ .+$/);
  const long = await esimctl(["partners", "show", "absent", "--data", data, "--verbose"]);
  expect(long.stderr).toMatch(/\n {4}at /);
});

test("Ctrl-C ends with 130 and a message", async () => {
  const data = await newData();
  const { child, end } = launch(["products", "import", "-", "--data", data], { input: "open" });
  // More than a pipe holds: once it is written the program is reading, and waits for more.
  await new Promise((resolve) => child.stdin?.write(`sku\n${"x\n".repeat(1_000_000)}`, resolve));
  expect(await end("SIGINT")).toEqual({
    exitCode: 130,
    signal: null,
    stdout: "",
    stderr: "error: Interrupted.\n→ Nothing was changed.\n",
  });
});
