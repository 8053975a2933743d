import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { esimctl, shell } from "./support/cli.ts";
import { checkout, launchCommand } from "./support/process.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctlJson } from "./support/warm.ts";

/** What `npm start` does once it has built: its output up to the line that says it listens, and how to stop it. */
async function start(data: string) {
  const script = `const { start } = await import("./dist/main.js"); await start(process.argv.slice(1));`;
  const args = ["--input-type=module", "-e", script, "--", "--data", data, "--port", "0"];
  const { end, printed, text } = launchCommand(process.execPath, args, { cwd: checkout });
  await printed('"event":"listening"');
  return { printed: text(), stop: async () => (await end("SIGTERM")).exitCode };
}

test("npm start makes demo data once and prints each time commands to try, which work when pasted", {
  tags: ["slow"],
}, async () => {
  const data = join(temporaryDirectory(), "data");
  const first = await start(data);
  const [token = "", products = "", order = ""] = first.printed
    .split("\n")
    .filter((line) => /^ {2}(TOKEN=|curl|node)/.test(line));

  expect(first.printed).toMatch(/^The API reference is at http:\/\/127\.0\.0\.1:\d+\/docs, the guides .*\/docs\/api/m);
  const tried = await shell([token, products].join("\n"), checkout);
  expect(tried.exitCode).toBe(0);
  const [jwt = "", page = ""] = tried.stdout.split("\n");
  expect(jwt).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(JSON.parse(page).data).toHaveLength(3);
  const ordered = await shell(order.replace("node ", `${process.execPath} `), checkout);
  expect(ordered).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^number +ORD-/) });
  expect(await first.stop()).toBe(0);

  const live = /sk_live_\w+/.exec(first.printed)?.[0] ?? "";
  await esimctlJson(["credentials", "rotate", live, "--yes", "--data", data]);
  const second = await start(data);
  const demoOf = (printed: string) => printed.match(/sk_(test|live)_\w+|client_secret {2}\S+/g);
  const [id, secret] = demoOf(first.printed) ?? [];
  expect(demoOf(second.printed)?.slice(0, 2)).toEqual([id, secret]);
  // A secret that is no longer valid is not shown.
  expect(second.printed).toMatch(new RegExp(`${live}\\n +client_secret  rotated or revoked since\\n`));
  await second.stop();
  const orders = await esimctlJson(["orders", "list", "--partner", "demo", "--data", data]);
  expect(orders).toMatchObject({ pagination: { count: 1 } });
});

test("init --demo loads the catalog, stock, funds and two credentials, kept for their owner alone", async () => {
  const data = join(temporaryDirectory(), "data");
  const made = Object(await esimctlJson(["init", "--demo", "--data", data]));
  expect(made).toMatchObject({ created: true, demo: { partner: "demo" } });
  const kept = join(data, "demo-credentials.json");
  expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({ credentials: made.demo.credentials });
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const again = Object(await esimctlJson(["init", "--demo", "--data", data]));
  expect(again).toEqual({ ...made, created: false });
  const json = (line: string) => esimctlJson([...line.split(" "), "--data", data]);
  expect(await json("credentials list --partner demo")).toMatchObject({ count: 2 });
  expect(await json("wallet balance --partner demo")).toMatchObject({ count: 3 });
  expect(await json("partners show demo")).toMatchObject({ agent: true, production_enabled: true, tier: "premium" });
});

test("demo data is refused where other partners exist", async () => {
  const data = join(temporaryDirectory(), "data");
  await esimctlJson(["init", "--data", data]);
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--data", data]);
  const refused = await esimctl(["init", "--demo", "--data", data]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(await esimctlJson(["partners", "list", "--data", data])).toMatchObject({ count: 1 });
});
