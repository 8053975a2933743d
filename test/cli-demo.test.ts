import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { esimctl, shell } from "./support/cli.ts";
import { checkout, launchCommand } from "./support/process.ts";
import { temporaryDirectory } from "./support/store.ts";
import { visitor } from "./support/visitor.ts";
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
  expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({
    credentials: made.demo.credentials,
    users: made.demo.users,
  });
  expect(made.demo.users).toMatchObject([
    { face: "portal", email: "owner@demo.example", totp: null },
    { face: "console", email: "admin@demo.example", totp: expect.stringMatching(/^[A-Z2-7]{32}$/) },
  ]);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const again = Object(await esimctlJson(["init", "--demo", "--data", data]));
  expect(again).toEqual({ ...made, created: false });
  const json = (line: string) => esimctlJson([...line.split(" "), "--data", data]);
  expect(await json("credentials list --partner demo")).toMatchObject({ count: 2 });
  expect(await json("wallet balance --partner demo")).toMatchObject({ count: 3 });
  expect(await json("partners show demo")).toMatchObject({ agent: true, production_enabled: true, tier: "premium" });
});

test("init --demo prints the pages at the address that the data was last served at", async () => {
  const data = join(temporaryDirectory(), "data");
  const printed = async () => (await esimctl(["init", "--demo", "--data", data])).stdout;
  expect(await printed()).toContain("  http://127.0.0.1:8080/portal\n");
  const database = new Database(join(data, "esimctl.db"));
  database.exec("INSERT INTO settings (key, value) VALUES ('public_url', 'https://sims.example')");
  database.close();
  const again = await printed();
  expect(again).toContain("  https://sims.example/portal\n");
  expect(again).toContain("  https://sims.example/console\n");
  expect(again).not.toContain("8080");
});

test("demo data is refused where other partners exist", async () => {
  const data = join(temporaryDirectory(), "data");
  await esimctlJson(["init", "--data", data]);
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--data", data]);
  const refused = await esimctl(["init", "--demo", "--data", data]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(await esimctlJson(["partners", "list", "--data", data])).toMatchObject({ count: 1 });
});

test("npm start prints where the pages are, and people who can sign in to them", { tags: ["slow"] }, async () => {
  const data = join(temporaryDirectory(), "data");
  const started = await start(data);
  const url = /http:\/\/127\.0\.0\.1:\d+(?=\/portal)/.exec(started.printed)?.[0] ?? "";
  const people = [...started.printed.matchAll(/e-mail (\S+) +password (\S+)/g)].map(
    ([, email = "", password = ""]) => ({
      email,
      password,
    }),
  );
  const [owner, admin] = people;
  if (owner === undefined || admin === undefined) throw new Error(`no sign-ins: ${started.printed}`);
  const portal = visitor(url);
  const overview = await portal.send(await portal.get("/portal"), owner);
  expect([overview.path, overview.text]).toEqual(["/portal", expect.stringContaining("10,000.00 AUD")]);
  const secret = await portal.send(await portal.get("/portal/developers"), { environment: "sandbox", label: "try" });
  expect(secret.text).toMatch(/sk_test_/);
  const placed = await portal.send(await portal.get("/portal/orders"), { product: "ES-EU-5GB-30D", quantity: "1" });
  expect(placed.text).toContain("is placed");
  const code = /code +(\d{6})/.exec(started.printed)?.[1] ?? "";
  const desk = visitor(url);
  const inside = await desk.send(await desk.send(await desk.get("/console"), admin), { code });
  expect([inside.status, inside.path]).toEqual([200, "/console"]);
  await started.stop();
});
