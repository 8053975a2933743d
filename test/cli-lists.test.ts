import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { nouns } from "../src/cli/nouns.ts";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import { request } from "./support/activations.ts";
import { eventually } from "./support/hangs.ts";
import { demoData } from "./support/installation.ts";
import { writePassportFile } from "./support/passport-file.ts";
import { runStatements, temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson, type WarmOptions } from "./support/warm.ts";

/** More than two pages of 200. */
const POOL = 450;
const folder = temporaryDirectory(afterAll);
let data = "";

const run = (line: string | readonly string[], options: WarmOptions = {}) =>
  esimctl([...(typeof line === "string" ? line.split(" ") : line), "--data", data], options);
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
const json = async (line: string): Promise<any> => esimctlJson([...line.split(" "), "--data", data]);

beforeAll(async () => {
  data = (await demoData(folder)).data;
  const pool = join(folder, "pool.csv");
  await writePassportFile(pool, POOL);
  await json(`passports import ${pool} --partner demo`);
  await json("webhooks create https://shop.example.com/hooks/esim --events order.created,esims.ready --partner demo");
  await json("wallet credit --partner demo --amount 1000.00 --currency USD --reference=BANK-TRANSFER-2026-03-01-0001");
  const { sku } = (await json("products list --all")).data.find(
    (one: { product_type: string }) => one.product_type === "esim_qr_pregen",
  );
  await json(`orders create --product ${sku} --quantity 2 --partner demo`);
  const sims = Array.from({ length: 2 }, () =>
    request({ activation_date: "2031-03-10", passport_expiry: "2034-01-01" }),
  );
  const lines = [Object.keys(sims[0] ?? {}), ...sims.map((sim) => Object.values(sim))];
  writeFileSync(join(folder, "sims.csv"), `${lines.map((line) => line.join(",")).join("\n")}\n`);
  await json(`activations submit ${join(folder, "sims.csv")} --partner demo`);
});

const lists = [
  ...["partners list", "carriers list", "stock list", "suppliers list", "credentials list --partner demo"],
  ...["products list --all", "orders list --partner demo", "activations list --partner demo", "audit list"],
  ...["webhooks list --partner demo", "webhooks deliveries", "wallet ledger --partner demo", "passports queue"],
  ...["passports list --partner demo", "orders queue", "activations queue"],
];

test("every list is a table at 60, 80 and 120 columns, on lines that end within them", { tags: ["slow"] }, async () => {
  for (const line of lists) {
    const [title = ""] = (await run(line)).stdout.split("\n");
    const titles = title.split(/ {2,}/);
    for (const columns of [60, 80, 120]) {
      const { exitCode, stdout } = await run(line, { columns });
      const shown = stdout.split("\n");
      expect(exitCode, line).toBe(0);
      for (const one of shown) expect(one.length, `${line} at ${columns}: ${one}`).toBeLessThanOrEqual(columns);
      // A row without columns is the sentence of an empty list.
      if (titles.length > 1) expect(titles, line).toEqual(expect.arrayContaining(shown[0]?.split(/ {2,}/) ?? []));
    }
  }
});

test("below 60 columns what does not fit is a card a row, with every field whole", async () => {
  const [id] = (await json("webhooks list --partner demo")).data.map((one: { id: string }) => one.id);
  const { stdout } = await run("webhooks list --partner demo", { columns: 59 });
  expect(stdout.split("\n").slice(0, 3)).toEqual([
    `id       ${id}`,
    "status   active",
    "url      https://shop.example.com/hooks/esim",
  ]);
});

test("all pages are printed as one list: as a table, as JSON and as CSV", async () => {
  const line = "passports list --partner demo --all";
  const table = (await run(line)).stdout.split("\n");
  expect(table[0]).toMatch(/^number +country +name/);
  expect(table).toHaveLength(1 + POOL);
  expect(table.filter((one) => one.startsWith("number"))).toHaveLength(1);

  const whole = await run(`${line} --json`);
  const body = JSON.parse(whole.stdout);
  // What is printed piece by piece is what JSON.stringify prints of the whole.
  expect(whole.stdout).toBe(JSON.stringify(body, null, 2));
  expect(Object.keys(body)).toEqual(["records", "count", "pagination"]);
  expect(body).toMatchObject({ count: POOL, pagination: { has_more: false, next_cursor: null, count: POOL } });
  expect(new Set(body.records.map((one: { id: string }) => one.id)).size).toBe(POOL);

  const csv = (await run(`${line} --csv`)).stdout.split("\n");
  expect(csv[0]).toBe(Object.keys(body.records[0]).join(","));
  expect(csv.slice(1).map((one) => one.split(",")[0])).toEqual(body.records.map((one: { id: string }) => one.id));
  const audit = await json("audit list --all");
  expect(audit.data).toHaveLength(audit.count);
  expect(await json("passports queue --limit 7")).toMatchObject({ count: 7 });
});

test("a JSON list that fails after its first rows ends as one document, with the error", async () => {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    const page = { data: [{ id: "one" }], pagination: { has_more: true, next_cursor: "next", count: 1 } };
    const token = { access_token: "token", expires_in: 3600 };
    const body = request.url?.endsWith("/oauth/token")
      ? token
      : count === 2
        ? page
        : { detail: "This cursor is not valid." };
    response.writeHead(count > 2 ? 400 : 200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const at = ["--server", `http://127.0.0.1:${port}`, "--client-id", "id", "--client-secret", "secret"];
  const ended = await esimctl(["orders", "list", "--all", "--json", ...at]);
  expect(ended).toMatchObject({ exitCode: 1, stderr: "" });
  expect(JSON.parse(ended.stdout)).toEqual({
    data: [{ id: "one" }],
    error: { code: "http_400", message: "This cursor is not valid.", hint: expect.any(String) },
  });
});

test("--jq prints texts as they are and anything else as JSON, a line each, as gh does", async () => {
  const jq = async (expression: string, line = "passports list --partner demo --limit 2") =>
    run([...line.split(" "), "--jq", expression, "--quiet"]);
  expect(await jq(".records[].passport_no")).toEqual({ exitCode: 0, stdout: "P00000449\nP00000448", stderr: "" });
  expect((await jq(".records | length, {first: .[0].reference}")).stdout).toBe('2\n{"first":"GRP-449"}');
  expect((await jq(".records[] | [.passport_no, .title] | @tsv")).stdout).toBe("P00000449\tMs\nP00000448\tMs");
  expect((await jq('"\\u001b[31mred\\u202e"')).stdout).toBe("red ");
  expect((await jq('{a: "\\u001b[31mred\\u202e"}')).stdout).toBe('{"a":"\\u001b[31mred\\u202e"}');
  expect((await jq(".slug", "partners show demo")).stdout).toBe("demo");
  expect((await jq("empty")).stdout).toBe("");
  for (const [expression, why] of [
    [".records[", /^error: jq: error: syntax error/],
    [".records.x", /^error: jq: error.*Cannot index array/],
  ] as const) {
    const wrong = await jq(expression);
    expect(wrong).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(why) });
  }
});

test("--template fills a Liquid template; a name that the document does not have is refused", async () => {
  const fill = async (template: string, line = "passports list --partner demo --limit 2") =>
    run([...line.split(" "), "--template", template, "--quiet"]);
  const rows =
    '{% for one in records %}{{ one.passport_no }}{{ "\\t" }}{{ one.first_name | upcase }}{{ "\\n" }}{% endfor %}';
  expect((await fill(rows)).stdout).toBe("P00000449\tGIVEN449\nP00000448\tGIVEN448");
  expect((await fill('{{ records | map: "reference" | join: ", " }}')).stdout).toBe("GRP-449, GRP-448");
  const at = '{{ created_at | date: "%Y" }}';
  expect((await fill(at, "partners show demo")).stdout).toMatch(/^20\d\d$/);
  for (const [template, why] of [
    ["{{ recrods }}", /undefined variable: recrods/],
    ["{{ records | nope }}", /undefined filter: nope/],
    ["{% for %}", /illegal/],
    ['{% include "/etc/passwd" %}', /Failed to lookup/],
  ] as const) {
    expect(await fill(template), template).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(why) });
  }
});

test("--csv has a column for each field, lists and objects as JSON, and no formula", async () => {
  await json("partners create formula --name =1+1");
  const csv = (await run("partners list --csv")).stdout.split("\n");
  expect(csv[0]).toMatch(/^id,slug,name,status,tier,rate_limit_per_minute,agent,production_enabled,limits,thresholds,/);
  expect(csv.find((line) => line.includes(",formula,"))).toMatch(/,'=1\+1,active,.*"{""max_endpoints"":100,/);
  expect((await run("orders queue --csv")).stdout).toBe("");
  const file = (await run("products list --csv --bom --decimals")).stdout;
  expect(file).toMatch(/^\ufeff.*,price_cents,price,/);
  for (const product of parse<Record<string, string>>(file, { bom: true, columns: true })) {
    expect(Number(product.price)).toBe(Number(product.price_cents) / 100);
  }
  expect((await run("products list --bom")).exitCode).toBe(2);
});

test("--web opens the page in the browser that BROWSER names", async () => {
  const script = join(folder, "browser");
  const seen = join(folder, "seen");
  writeFileSync(script, `#!/bin/sh\nprintf %s "$1" > ${seen}.new && mv ${seen}.new ${seen}\n`, { mode: 0o755 });
  const never = await run("whoami --web", { env: { BROWSER: script } });
  expect(never).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/never served/) });
  const missing = await run("whoami --web --server http://127.0.0.1:9", { env: { BROWSER: join(folder, "none") } });
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/two places/) });
  const opened = ["whoami", "--web", "--json", "--server", "http://127.0.0.1:9"];
  expect(await esimctl(opened, { env: { BROWSER: script } })).toMatchObject({ exitCode: 0 });
  const address = () => (existsSync(seen) ? readFileSync(seen, "utf8") : "");
  expect(
    await eventually(
      async () => address(),
      (one) => one !== "",
    ),
  ).toBe("http://127.0.0.1:9/docs");
  const none = await esimctl(opened, { env: { BROWSER: join(folder, "none") } });
  expect(none.exitCode).toBe(1);
  expect(JSON.parse(none.stdout).error).toMatchObject({
    code: "no_browser",
    message: expect.stringContaining("127.0.0.1:9/docs"),
  });
});

test("one shape at a time, of what lists or shows", async () => {
  for (const line of ["partners list --jq . --template x", "partners list --csv --jq ."])
    expect(await run(line), line).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/exclude each other/) });
  const { exitCode, stdout } = await run("partners list --csv --json");
  expect([exitCode, JSON.parse(stdout).error.code]).toEqual([2, "usage"]);
  for (const line of ["partners show demo --csv", "partners create x --name X --jq ."])
    expect(await run(line), line).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/Unknown option/) });
});

test("every verb that lists or shows offers the shapes", async () => {
  const verbs = nouns.flatMap((noun) => noun.verbs.map((verb) => ({ ...verb, path: `${noun.name} ${verb.name}` })));
  for (const { name, path, load } of verbs.filter(({ name }) => ["list", "queue", "show"].includes(name)))
    expect((await load()).shows, path).toBe(name === "show" ? "record" : "rows");
});

test("top-ups are listed and exported where --purpose asks for them", async () => {
  const { data: shop } = await demoData();
  const skus = async (line: string): Promise<string[]> => {
    const { data: rows, products } = Object(await esimctlJson([...line.split(" "), "--data", shop]));
    return (rows ?? products).map(({ sku }: { sku: string }) => sku).sort();
  };
  const [topup = "", ...plans] = await skus("products list --all");
  const location = { file: dataDirectory(shop).databaseFile, create: false };
  await runStatements(location, [`UPDATE products SET purpose = 'topup' WHERE sku = '${topup}'`]);
  const file = "catalog export --format generic";
  for (const line of ["products list --all", `${file} --as json`]) {
    expect(await skus(line), line).toEqual(plans);
    expect(await skus(`${line} --purpose plan`), line).toEqual(plans);
    expect(await skus(`${line} --purpose topup`), line).toEqual([topup]);
  }
  const csv = await esimctl([...file.split(" "), "--purpose", "topup", "--data", shop]);
  expect(parse(csv.stdout, { columns: true })).toMatchObject([{ sku: topup }]);
});
