import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Command } from "../src/cli/frame/command.ts";
import { nouns } from "../src/cli/nouns.ts";
import { run } from "../src/cli/run.ts";
import { singles } from "../src/cli/singles.ts";
import type { Ended } from "./support/cli.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

interface Node {
  path: string[];
  summary: string;
  command: Command;
}

/** Every command there is, with the words that name it. */
async function wholeTree(): Promise<Node[]> {
  const alone = singles.map((one) => ({ ...one, path: [one.name] }));
  const verbs = nouns.flatMap((noun) => noun.verbs.map((verb) => ({ ...verb, path: [noun.name, verb.name] })));
  return Promise.all([...alone, ...verbs].map(async ({ load, ...one }) => ({ ...one, command: await load() })));
}

const tree = await wholeTree();

/** What the program prints and answers when it is called in this very process. */
async function called(args: string[]): Promise<Ended> {
  const written = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      written[name] += text;
      return true;
    }),
  );
  try {
    return { exitCode: await run(args), ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Each of `items` in turn, two at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}

function documentOf({ stdout }: Ended, line: string): Record<string, unknown> {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${line}: not one JSON document: ${stdout.slice(0, 200)}`);
  }
}

/** A failure has a code, a message and a hint, and is no bug. */
function expectFailure(ended: Ended, line: string): void {
  const document = documentOf(ended, line);
  expect(Object.keys(document), line).toEqual(["error"]);
  expect(document.error, line).toEqual({
    code: expect.stringMatching(/^[a-z][a-z0-9_]*$/),
    message: expect.stringMatching(/^.+$/),
    hint: expect.stringMatching(/^[A-Z].*[^,;:]$/),
  });
  expect(document.error, line).not.toMatchObject({ code: "internal" });
  expect(ended.stderr, line).toBe("");
}

/** A line with every required argument, whose values need not exist. */
function filled({ path, command }: Node): string[] {
  const args = command.args.flatMap(({ syntax }) => (syntax.startsWith("<") ? ["nothing-of-that-name"] : []));
  const options = command.options.flatMap(({ flags, required, choices }) => {
    const [flag = ""] = (flags[0] ?? "").replace(/^-\w, /, "").split(" ");
    return required ? [flag, choices?.[0] ?? "1"] : [];
  });
  return [...path, ...args, ...options, "--yes", "--json"];
}

const takesNothing = ({ command }: Node) =>
  command.args.every(({ syntax }) => !syntax.startsWith("<")) && command.options.every(({ required }) => !required);

describe("every command", () => {
  test("has help with its effects, examples and exit codes", async () => {
    for (const { path, command } of tree) {
      const shown = await called([...path, "--help"]);
      const line = path.join(" ");
      expect(shown, line).toMatchObject({ exitCode: 0, stderr: "" });
      expect(shown.stdout, line).toMatch(/\nEffects:\n {2}\S/);
      expect(shown.stdout, line).toContain(`\nExamples:\n  $ esimctl ${line}`);
      expect(shown.stdout, line).toMatch(/\nExit codes:\n {2}0 done, /);
      expect(shown.stdout, line).toContain(command.effects.split(" ")[0]);
    }
  });

  test("documents its JSON", () => {
    expect(tree.filter(({ command }) => command.json === undefined).map(({ path }) => path.join(" "))).toEqual([]);
  });

  test("refuses an unknown flag, and a missing argument, with exit code 2", async () => {
    for (const node of tree) {
      const line = node.path.join(" ");
      const unknown = await called([...node.path, "--no-such-flag", "--json"]);
      expect(unknown.exitCode, line).toBe(2);
      expectFailure(unknown, line);
      if (takesNothing(node)) continue;
      const bare = await called([...node.path, "--json"]);
      expect(bare.exitCode, line).toBe(2);
      expectFailure(bare, line);
    }
  });

  test("its JSON documentation and its summary are one line each", () => {
    for (const { summary, command } of tree) expect(`${summary}${command.json}`).not.toMatch(/\n/);
  });
});

describe("run on their own", () => {
  // serve, listen and similar commands do not end.
  const ending = tree.filter(({ command }) => command.stays !== true);

  /** A working directory without a login, and data with one partner only. */
  async function nearlyNothing() {
    const home = temporaryDirectory();
    const data = join(home, "data");
    const cwd = join(home, "cwd");
    mkdirSync(cwd);
    for (const line of ["init", "partners create acme --name Acme --agent --production"]) {
      expect(await esimctl([...line.split(" "), "--data", data])).toMatchObject({ exitCode: 0 });
    }
    return { data, how: { cwd, env: { XDG_CONFIG_HOME: home } } };
  }

  const acting = ({ command: { target } }: Node) => (target === "partner" ? ["--partner", "acme", "--sandbox"] : []);

  test("on empty data: one JSON document on stdout, and where it fails a code, a message and a hint", {
    tags: ["slow"],
  }, async () => {
    const { data, how } = await nearlyNothing();
    await eachOf(ending, async (node) => {
      const args = [...filled(node), ...acting(node), "--data", data];
      const line = args.join(" ");
      const ended = await esimctl(args, how);
      if (ended.exitCode === 0) documentOf(ended, line);
      else expectFailure(ended, line);
    });
  });

  test("operator's commands report that they are unsupported at a server", async () => {
    const { how } = await nearlyNothing();
    const server = ["--server", "http://127.0.0.1:9", "--client-id", "sk_test_x", "--client-secret", "x"];
    await eachOf(
      ending.filter(({ command }) => command.target === "operator"),
      async (node) => {
        const line = node.path.join(" ");
        const ended = await esimctl([...filled(node), ...server], how);
        expectFailure(ended, line);
        expect(ended.exitCode, line).toBe(2);
        expect(documentOf(ended, line), line).toMatchObject({ error: { code: "operator_only" } });
      },
    );
  });
});
