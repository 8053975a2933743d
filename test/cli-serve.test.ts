import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { esimctl } from "./support/cli.ts";
import { refusedStart, startDaemon } from "./support/daemon.ts";
import { demoData, newData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctlJson, esimctl as warm } from "./support/warm.ts";

/** Its last two digits are wrong for the others. */
const EID = "89049032000000000000000000000017";

test("a directory that cannot be made is reported at once", async () => {
  for (const args of [["serve", "--port", "0"], ["init"]]) {
    const ended = await esimctl([...args, "--data", "/proc/esimctl/data"]);
    expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^error: Cannot write to \/proc\/esimctl\/data: \w+\.\n→ .*$/);
  }
});

test("a new installation prints what to keep and what to do next; serve reports that it made one", {
  tags: ["slow"],
}, async () => {
  const folder = join(temporaryDirectory(), "with space");
  const made = await warm(["init", "--data", join(folder, "data")]);
  const key = join(folder, "data", "esimctl.key");
  expect(made.stdout).toContain(`Keep a copy of ${key} apart from the data`);
  expect(made.stdout).toMatch(
    /^ {2}esimctl credentials create --partner acme --data '.*\/with space\/data' +# its sand/m,
  );
  expect((await warm(["init", "--data", join(folder, "data")])).stdout).not.toContain("Next steps");

  const data = join(folder, "mistyped");
  const daemon = await startDaemon({ data });
  const made_at = { event: "initialized", place: data, key_file: join(data, "esimctl.key") };
  expect(JSON.parse(await daemon.printed('"event":"initialized"'))).toMatchObject(made_at);
  await daemon.stop();
  const again = await startDaemon({ data });
  expect((await again.stop()).stdout).not.toContain("initialized");
});

test("another user's data is not called absent", async () => {
  const data = await newData();
  const root = process.getuid?.() === 0;
  // The user nobody, on any Linux; without root the directory loses its permissions.
  if (root) chmodSync(join(data, ".."), 0o755);
  else chmodSync(data, 0);
  for (const args of [["status"], ["doctor"], ["serve", "--port", "0"]]) {
    const ended = await esimctl([...args, "--data", data], root ? { uid: 65_534 } : {});
    expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^error: Cannot look into .*: EACCES\.\n→ Act as the user that it belongs to.*$/);
  }
  chmodSync(data, 0o700);
});

test("strict EIDs and the sunset of the inventory endpoint are as last served", { tags: ["slow"] }, async () => {
  const { data } = await demoData();
  const made = Object(await esimctlJson(["credentials", "create", "--partner", "demo", "--data", data]));
  const asked = async (flags: string[]) => {
    const daemon = await startDaemon({ data, flags });
    const grant = { grant_type: "client_credentials", client_id: made.client_id, client_secret: made.client_secret };
    const json = { "content-type": "application/json" };
    const token = await fetch(`${daemon.url}/api/v1/oauth/token`, {
      method: "POST",
      headers: json,
      body: JSON.stringify(grant),
    });
    const authorization = `Bearer ${Object(await token.json()).access_token}`;
    const inventory = await fetch(`${daemon.url}/api/v1/inventory/status`, { headers: { authorization } });
    const { data: products } = Object(await esimctlJson(["products", "list", "--all", "--data", data]));
    const pushed = products.find(({ sku }: { sku: string }) => sku === "EP-NZ-30GB-30D").id;
    const who = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2090-01-01" };
    const order = await fetch(`${daemon.url}/api/v1/orders`, {
      method: "POST",
      headers: { ...json, authorization, "idempotency-key": crypto.randomUUID() },
      body: JSON.stringify({
        line_items: [{ product_id: pushed, quantity: 1 }],
        activation_requests: [{ product_id: pushed, ...who, eid_number: EID }],
      }),
    });
    const { stdout } = await daemon.stop();
    expect(stdout).not.toContain(EID);
    const warned = stdout.includes('"msg":"an EID has a wrong check digit"');
    return { sunset: inventory.headers.get("sunset"), status: order.status, warned };
  };
  const strict = await asked(["--strict-eid", "--inventory-sunset", "2027-06-30"]);
  expect(strict).toEqual({ sunset: "Wed, 30 Jun 2027 00:00:00 GMT", status: 400, warned: false });
  expect(await asked([])).toEqual({ sunset: null, status: 201, warned: true });
  for (const typed of ["soon", "2027-02-30", "2027-06-30T10:00:00"]) {
    const refused = await refusedStart({ data, flags: ["--inventory-sunset", typed] });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  }
});

test("a daemon goes on when the reader of its output has ended", { tags: ["slow"] }, async () => {
  const data = await newData();
  const { url, child, stop } = await startDaemon({ data });
  child.stdout?.destroy();
  // Each request is a line of the log.
  for (let request = 0; request < 5; request++) expect((await fetch(`${url}/api/v1/products`)).status).toBe(401);
  expect(await stop()).toMatchObject({ exitCode: 0 });
  const { data: lines } = Object(await esimctlJson(["logs", "tail", "--data", data]));
  const asked = lines.filter(({ route }: { route?: string }) => route === "/api/v1/products");
  expect([asked.length, lines.at(-1).event]).toEqual([5, "stopped"]);
});
