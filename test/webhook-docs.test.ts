import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa, execaSync } from "execa";
import { expect, test } from "vitest";
import { eventKinds } from "../src/core/events/catalog.ts";
import { webhookStatuses } from "../src/core/store/schema/values.ts";
import { retryDelays } from "../src/core/webhooks/retries.ts";
import { signature, signatureFault } from "../src/core/webhooks/signature.ts";
import { temporaryDirectory } from "./support/store.ts";

const page = readFileSync(join(import.meta.dirname, "..", "docs", "webhooks.md"), "utf8");

/** The first block of the page in a language. */
function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (found === undefined) throw new Error(`no ${language} block`);
  return found;
}

interface Vector {
  secret: string;
  header: string;
  body: string;
}

interface Case extends Vector {
  now: number;
  right: boolean;
}

const vectors: Vector[] = JSON.parse(block("json"));
const timeOf = ({ header }: Vector) => Number(/^t=(\d+)/.exec(header)?.[1]);

/** Every vector as it is, and with each of its parts made wrong. */
const cases: Case[] = vectors.flatMap((vector) => {
  const now = timeOf(vector);
  return [
    { ...vector, now, right: true },
    { ...vector, now: now + 300, right: true },
    { ...vector, now: now - 300, right: true },
    { ...vector, now: now + 301, right: false },
    { ...vector, now: now - 301, right: false },
    { ...vector, body: `${vector.body} `, now, right: false },
    { ...vector, secret: vector.secret.slice(6), now, right: false },
    { ...vector, header: vector.header.replace(/.$/, (last) => (last === "0" ? "1" : "0")), now, right: false },
    { ...vector, header: vector.header.replace("v1=", "v0="), now, right: false },
    { ...vector, header: `${vector.header}\n`, now, right: false },
    { ...vector, header: "", now, right: false },
  ];
});
const right = cases.map((each) => each.right);

test("the test vectors verify, and so do the program's signatures", () => {
  expect(vectors).toHaveLength(3);
  for (const vector of vectors) {
    expect(vector.header).toBe(`t=${timeOf(vector)},v1=${signature(vector.secret, timeOf(vector), vector.body)}`);
  }
  const trimmed = cases.filter(({ header }) => !header.endsWith("\n"));
  const faults = trimmed.map((each) => signatureFault(each, each.now * 1000) === null);
  expect(faults).toEqual(trimmed.map((each) => each.right));
});

/** Runs a program that reads the cases from its standard input and prints the result of each. */
async function verdicts(file: string, source: string, command: string, args: string[] = []): Promise<unknown> {
  const path = join(temporaryDirectory(), file);
  writeFileSync(path, source);
  const { stdout } = await execa(command, [...args, path], { input: JSON.stringify(cases) });
  return JSON.parse(stdout);
}

function installed(command: string, args: string[]): boolean {
  return execaSync(command, args, { reject: false }).exitCode === 0;
}

test("the lines for Node verify", async () => {
  const source = `import { readFileSync } from "node:fs";
${block("js")}
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map((c) => verify(c.secret, c.header, Buffer.from(c.body), c.now))));`;
  expect(await verdicts("verify.mjs", source, process.execPath)).toEqual(right);
});

test.skipIf(!installed("python3", ["--version"]))("the lines for Python verify", async () => {
  const source = `${block("python")}
import json, sys
cases = json.load(sys.stdin)
print(json.dumps([verify(c["secret"], c["header"], c["body"].encode(), c["now"]) for c in cases]))`;
  expect(await verdicts("verify.py", source, "python3")).toEqual(right);
});

test.skipIf(!installed("php", ["--version"]))("the lines for PHP verify", async () => {
  const source = `<?php
${block("php")}
$cases = json_decode(file_get_contents('php://stdin'), true);
echo json_encode(array_map(fn($c) => verify($c['secret'], $c['header'], $c['body'], $c['now']), $cases));`;
  expect(await verdicts("verify.php", source, "php")).toEqual(right);
});

test.skipIf(!installed("go", ["version"]))("the lines for Go verify", async () => {
  const source = `package main
import ("crypto/hmac"; "crypto/sha256"; "encoding/hex"; "encoding/json"; "fmt"; "os"; "regexp"; "strconv"; "time")
${block("go")}
func main() {
	var cases []struct{ Secret, Header, Body string; Now int64 }
	if json.NewDecoder(os.Stdin).Decode(&cases) != nil { os.Exit(1) }
	verdicts := []bool{}
	for _, c := range cases {
		verdicts = append(verdicts, Verify(c.Secret, c.Header, []byte(c.Body), time.Unix(c.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}`;
  expect(await verdicts("verify.go", source, "go", ["run"])).toEqual(right);
});

test("the page names every kind, every delay and every status", () => {
  for (const kind of eventKinds) expect(page).toContain(kind);
  const waits = [...page.matchAll(/^\| [2-9] \| (\d+) s \|$/gm)].map((row) => Number(row[1]) * 1000);
  expect(waits).toEqual(retryDelays);
  for (const status of webhookStatuses) expect(page).toMatch(new RegExp(`^\\| ${status} \\|`, "m"));
});
