import { copyFileSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const CATALOG = join(import.meta.dirname, "..", "fixtures", "products.csv");
const STOCK = join(import.meta.dirname, "..", "fixtures", "stock", "ES-EU-5GB-30D.csv");

/** The program on a fresh data directory: `run` for what it prints, `json` for what it must succeed at. */
async function installation() {
  const data = await newData();
  const args = (line: string) => [...line.split(" "), "--data", data];
  return {
    data,
    file: (name: string) => join(data, "..", name),
    run: (line: string) => esimctl(args(line)),
    json: (line: string) => esimctlJson(args(line)),
    /** What `--json` prints when it fails, with the exit code. */
    async failure(line: string) {
      const { exitCode, stdout, stderr } = await esimctl([...args(line), "--json"]);
      expect(stderr).toBe("");
      return { exitCode, ...JSON.parse(stdout).error };
    },
  };
}

describe("partners", () => {
  test("create, update and show print the record", async () => {
    const { json, failure } = await installation();
    const made = await json("partners create acme --name Acme --tier premium --agent");
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      slug: "acme",
      name: "Acme",
      status: "active",
      suspended_reason: null,
      support: null,
      tier: "premium",
      rate_limit_per_minute: 300,
      agent: true,
      production_enabled: false,
      thresholds: { low_wallet: {}, low_data: [50, 80, 100], expiry_days: [3, 1] },
      limits: {
        max_endpoints: 100,
        max_pool: null,
        max_open_activations: null,
        max_sandbox_activations: 1000,
        max_pending_deliveries: null,
        max_days_ahead: null,
        max_requests_per_minute: 1500,
        sandbox_activations: true,
      },
      credit_lines: [],
      price_list: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const updated = await json("partners update acme --tier standard --no-agent --production --rate-limit 90");
    const changes = { tier: "standard", rate_limit_per_minute: 90, agent: false, production_enabled: true };
    const limits = { ...Object(made).limits, max_requests_per_minute: 450 };
    expect(updated).toEqual({ ...Object(made), ...changes, limits });
    const most = await json("partners update acme --rate-limit 10000000");
    expect(most).toMatchObject({ rate_limit_per_minute: 10_000_000 });
    expect(await json("partners update acme --rate-limit 0")).toMatchObject({
      rate_limit_per_minute: 60,
      agent: false,
    });
    expect(await json("partners show acme")).toMatchObject({ slug: "acme", tier: "standard" });
    expect(await json("partners list")).toMatchObject({ data: [{ slug: "acme" }], count: 1 });
    expect(await failure("partners create acme --name Again")).toMatchObject({ exitCode: 1, code: "duplicate" });
    expect(await failure("partners create Acme! --name A")).toMatchObject({ exitCode: 1, code: "validation" });
    expect(await failure("partners show absent")).toMatchObject({ exitCode: 1, code: "not_found" });
  });

  test("update sets the limits of a partner, none goes back to the default, and both are audited", async () => {
    const { run, json, failure } = await installation();
    await json("partners create acme --name Acme");
    const endpoints = "--max-endpoints 20 --max-pending-deliveries 5000";
    const activations = "--max-open-activations 300 --max-sandbox-activations 0 --no-sandbox-activations";
    const limits = {
      max_endpoints: 20,
      max_pool: 400,
      max_open_activations: 300,
      max_sandbox_activations: 0,
      max_pending_deliveries: 5000,
      max_days_ahead: 365,
      sandbox_activations: false,
    };
    const all = `partners update acme ${endpoints} ${activations} --max-pool 400 --max-days-ahead 365`;
    expect(await json(all)).toMatchObject({ slug: "acme", limits });
    expect(await json("partners show acme")).toMatchObject({ limits });
    const { stdout } = await run("partners show acme");
    expect(stdout).toMatch(/endpoints +at most 20/);
    expect(stdout).toMatch(/sandbox activations +not allowed/);
    expect(await json("audit list --target acme")).toMatchObject({
      data: [
        { action: "partners.update", fields: expect.arrayContaining(["max_endpoints", "sandbox_activations"]) },
        {},
      ],
    });
    const back = "partners update acme --max-endpoints none --max-pool none --sandbox-activations";
    expect(await json(back)).toMatchObject({
      limits: { ...limits, max_endpoints: 100, max_pool: null, sandbox_activations: true },
    });
    expect(await failure("partners update acme --max-days-ahead 4000")).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("from 0 to 3650"),
    });
    expect(await failure("partners update acme --max-pool some")).toMatchObject({ exitCode: 2 });
  });

  test("suspend asks for confirmation, which without a terminal only --yes gives", async () => {
    const { run, json, failure } = await installation();
    await json("partners create acme --name Acme");
    expect(await failure("partners suspend acme")).toMatchObject({
      exitCode: 2,
      code: "confirmation_needed",
      message: expect.stringMatching(/Suspend acme\?/),
      hint: expect.stringMatching(/--yes/),
    });
    expect((await run("partners suspend acme")).stderr).toMatch(/Suspend acme\?.*\n.*--yes/);
    expect(await json("partners show acme")).toMatchObject({ status: "active" });
    expect(await json("partners suspend acme --yes")).toMatchObject({ status: "suspended" });
    expect(await json("wallet balance --partner acme --sandbox")).toEqual({ balances: [], count: 0 });
    expect(await json("partners resume acme")).toMatchObject({ status: "active" });
  });

  test("tables stay aligned, whatever characters names have", async () => {
    const { data, run, json } = await installation();
    await json("partners create ascii --name Plain");
    await esimctlJson(["partners", "create", "wide", "--name", "旅行\u001b[31m社", "--data", data]);
    const { stdout } = await run("partners list");
    const [head = "", ...rows] = stdout.split("\n");
    expect(head).toMatch(/^slug +name +status +tier/);
    expect(rows).toHaveLength(2);
    expect(stdout).not.toContain("\u001b");
    // A wide character takes two columns, so its row has as many characters less.
    expect(rows[0]?.indexOf("active")).toBe((rows[1]?.indexOf("active") ?? 0) + 3);
  });
});

test("credentials: the secret appears when issued and rotated, nowhere else", async () => {
  const { run, json, failure } = await installation();
  await json("partners create acme --name Acme");
  const issued = Object(await json("credentials create --partner acme --label shop --scope read:products"));
  expect(issued).toEqual({
    client_id: expect.stringMatching(/^sk_test_/),
    client_secret: expect.stringMatching(/^.{40,}$/),
    environment: "sandbox",
    scopes: ["read:products"],
    label: "shop",
    created_at: expect.any(String),
  });
  expect(await failure("credentials create --partner acme --live")).toMatchObject({
    exitCode: 1,
    code: "no_production_access",
    hint: expect.stringContaining("esimctl partners update acme --production"),
  });
  expect(await failure("credentials create --partner acme --scope all")).toMatchObject({ code: "validation" });
  await json("partners update acme --production");
  expect(await json("credentials create --partner acme --live")).toMatchObject({ environment: "production" });

  expect(await failure(`credentials rotate ${issued.client_id}`)).toMatchObject({ exitCode: 2 });
  const rotated = Object(await json(`credentials rotate ${issued.client_id} --yes`));
  expect(rotated).toEqual({ ...issued, client_secret: expect.stringMatching(/^.{40,}$/) });
  expect(rotated.client_secret).not.toBe(issued.client_secret);

  expect(await failure(`credentials revoke ${issued.client_id}`)).toMatchObject({ exitCode: 2 });
  expect(await json(`credentials revoke ${issued.client_id} --yes`)).toMatchObject({ status: "revoked" });
  expect(await failure(`credentials rotate ${issued.client_id} --yes`)).toMatchObject({ code: "conflict" });
  const listed = await run("credentials list --partner acme --json");
  expect(listed.stdout).not.toContain("secret");
  expect(JSON.parse(listed.stdout)).toMatchObject({ data: [{ label: "shop", status: "revoked" }, {}], count: 2 });
});

test("wallet: credit, debit, ledger and check, in each currency's own decimals", async () => {
  const { run, json, failure } = await installation();
  await json("partners create acme --name Acme --production");
  const credited = await json("wallet credit --partner acme --amount 1000.00 --currency AUD --reference INV-1");
  expect(credited).toEqual({
    transaction_id: expect.any(String),
    currency: "AUD",
    amount_cents: 100_000,
    balance_after_cents: 100_000,
    reference: "INV-1",
  });
  expect(await json("wallet credit --partner acme --amount 5000 --currency jpy")).toMatchObject({ amount_cents: 5000 });
  const debited = { amount_cents: 50, balance_after_cents: 99_950, reference: null };
  expect(await json("wallet debit --partner acme --amount 0.5 --currency AUD")).toMatchObject(debited);
  expect(await failure("wallet debit --partner acme --amount 1e3 --currency AUD")).toMatchObject({ exitCode: 2 });
  expect(await failure("wallet debit --partner acme --amount 0 --currency AUD")).toMatchObject({ exitCode: 2 });
  expect(await failure("wallet debit --partner acme --amount 2000 --currency AUD")).toMatchObject({
    exitCode: 1,
    code: "insufficient_balance",
  });
  expect(await json("wallet balance --partner acme")).toEqual({
    balances: [
      { currency: "AUD", balance_cents: 99_950, last_transaction_at: expect.any(String) },
      { currency: "JPY", balance_cents: 5000, last_transaction_at: expect.any(String) },
    ],
    count: 2,
  });
  expect((await run("wallet balance --partner acme")).stdout).toMatch(/^999\.50 AUD .*\n +5000 JPY /m);
  for (const [least, exitCode, words] of [
    ["--min 999.50 --currency aud", 0, /\nAt least 999\.50 AUD\.$/],
    ["--min 1000 --currency AUD", 1, /\nBelow 1000\.00 AUD: 0\.50 AUD short\.$/],
    ["--min 5000.00 --currency JPY", 0, /\nAt least 5000 JPY\.$/],
    ["--min 0.01 --currency USD", 1, /\nBelow 0\.01 USD: 0\.01 USD short\.$/],
    ["--min 0.001 --currency AUD", 2, /^$/],
    ["--min 5", 2, /^$/],
    ["--currency AUD", 2, /^$/],
  ] as const) {
    const asked = await run(`wallet balance --partner acme ${least}`);
    expect([least, asked.exitCode, asked.stdout]).toEqual([least, exitCode, expect.stringMatching(words)]);
  }

  const page = Object(await json("wallet ledger --partner acme --limit 2"));
  expect(page.data.map(({ kind }: { kind: string }) => kind)).toEqual(["debit", "credit"]);
  const rest = Object(await json(`wallet ledger --partner acme --cursor ${page.next_cursor}`));
  expect(rest).toMatchObject({ data: [{ reference: "INV-1", currency: "AUD" }], count: 1, next_cursor: null });
  for (const { postings } of Object(await json("wallet ledger --partner acme --all")).data) {
    expect(postings.reduce((sum: number, one: { amount_cents: number }) => sum + one.amount_cents, 0)).toBe(0);
  }
  const wallet = { partner: "acme", ok: true };
  expect(await json("wallet check --min 1000.00")).toEqual({
    ok: true,
    wallets: [
      { ...wallet, currency: "AUD", balance_cents: 99_950, ledger_cents: 99_950, low: true },
      { ...wallet, currency: "JPY", balance_cents: 5000, ledger_cents: 5000, low: false },
    ],
    unbalanced: [],
    wrong_credit: [],
    wrong_balance_after: [],
  });
});

describe("products", () => {
  test("import, list, show and update", async () => {
    const { json, failure, run } = await installation();
    const first = { read: 80, imported: 80, updated: 0, duplicates: 0, rejected: 0, rejected_file: null };
    const none = { reasons: [], warnings: [], suggestions: [], kept_names: [], price_changes: [] };
    await json("suppliers set halcyon --adapter email --to orders@halcyon.example");
    const imported = await run(`products import ${CATALOG} --json`);
    expect(JSON.parse(imported.stdout)).toEqual({ ...first, ...none, seconds: expect.any(Number) });
    expect(imported.stderr).toMatch(/^Not set yet: \d suppliers: .*lanternfish \(\d+ products\)/);
    expect(imported.stderr).not.toContain("halcyon");
    expect(await json(`products import ${CATALOG}`)).toMatchObject({ imported: 0, duplicates: 80 });
    expect(await json("products list --limit 3")).toMatchObject({ pagination: { has_more: true, count: 3 } });
    const all = Object(await json("products list --all --sort-by price_cents --sort-order asc"));
    expect(all.pagination).toEqual({ has_more: false, next_cursor: null, count: all.data.length });
    expect(all.data.length).toBeGreaterThan(60);
    const shown = Object(await json("products show ES-EU-5GB-30D"));
    expect(shown).toMatchObject({ sku: "ES-EU-5GB-30D", product_type: "esim_qr_pregen", features: expect.any(Array) });
    expect(await json(`products show ${shown.id}`)).toEqual(shown);
    expect(await failure("products show NOTHING")).toMatchObject({ exitCode: 1, code: "not_found" });
    expect(await json("products update ES-EU-5GB-30D --price 12.5 --status out_of_stock")).toMatchObject({
      price_cents: 1250,
      status: "out_of_stock",
    });
    const gone = Object(await json("products list --status out_of_stock"));
    expect(gone.data.map(skuOf)).toContain("ES-EU-5GB-30D");
  });

  test("invalid rows are named and rejected, the others are imported", async () => {
    const { file, json, run } = await installation();
    const [head = "", good = ""] = readFileSync(CATALOG, "utf8").split("\n");
    const bad = good.replace(/^[^,]+/, "BAD-1").replace(",data_only,", ",smoke_signals,");
    writeFileSync(file("p.csv"), `${head}\n${good}\n${bad}\n`);
    const ended = await run(`products import ${file("p.csv")} --json`);
    expect(ended.exitCode).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({ imported: 1, rejected: 1, rejected_file: file("p.rejected.csv") });
    expect(readFileSync(file("p.rejected.csv"), "utf8")).toMatch(/BAD-1.*,3,.*type must be one of/);
    expect(statSync(file("p.rejected.csv")).mode & 0o777).toBe(0o600);
    expect((await run(`products import ${file("p.csv")} --strict`)).exitCode).toBe(1);
    expect(await json("products list --all")).toMatchObject({ pagination: { count: 1 } });
  });

  test("JSON arrays, and prices in the currency's units", async () => {
    const { data, file, json, run, failure } = await installation();
    const product = {
      ...{ sku: "J-1", name: "Japan 1 GB", region: "Asia", coverage: ["JP"], data_amount_mb: 1024, validity_days: 7 },
      ...{ price_cents: 900, currency: "JPY", type: "data_only" },
      ...{ product_type: "esim_qr_pregen", delivery_method: "stock" },
    };
    writeFileSync(file("p.json"), JSON.stringify([product, { ...product, sku: "J-2", price_cents: "9" }, 5]));
    const dry = await run(`products import ${file("p.json")} --dry-run --json`);
    expect(JSON.parse(dry.stdout)).toMatchObject({ read: 3, imported: 0, rejected: 2 });
    const ended = await run(`products import ${file("p.json")} --json`);
    expect(ended.exitCode).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({ read: 3, imported: 1, rejected: 2 });
    const [first, second] = JSON.parse(readFileSync(file("p.rejected.json"), "utf8"));
    expect(first).toMatchObject({ index: 1, reason: expect.stringMatching(/price_cents must be a whole number/) });
    expect(second).toMatchObject({ index: 2, record: 5 });
    const csv =
      "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method";
    const row = (price: string) => `J-1,Japan 1 GB,Asia,JP,1024,7,${price},JPY,data_only,esim_qr_pregen,stock`;
    const piped = (price: string) =>
      esimctl(["products", "import", "-", "--json", "--data", data], {
        input: `${csv}\n${row(price)}\n`,
        cwd: temporaryDirectory(),
      });
    expect(JSON.parse((await piped("950")).stdout)).toMatchObject({ updated: 1 });
    expect((await piped("9.50")).exitCode).toBe(1);
    expect(await json("products show J-1")).toMatchObject({ price_cents: 950 });
    writeFileSync(file("no.json"), "{");
    expect(await failure(`products import ${file("no.json")}`)).toMatchObject({ exitCode: 1, code: "json_invalid" });
    // A device without end.
    symlinkSync("/dev/zero", file("zero.json"));
    expect(await failure(`products import ${file("zero.json")}`)).toMatchObject({ exitCode: 1, code: "too_large" });
    expect(await failure(`products import ${file("none.csv")}`)).toMatchObject({ exitCode: 1, code: "csv_unreadable" });
  });
});

test("stock: import, list and what runs low", async () => {
  const { file, json, run, failure } = await installation();
  await json(`products import ${CATALOG}`);
  expect(await json(`stock import ${STOCK} --sku ES-EU-5GB-30D`)).toMatchObject({ read: 60, imported: 60 });
  expect(await json(`stock import ${STOCK} --sku ES-EU-5GB-30D`)).toMatchObject({ imported: 0, duplicates: 60 });
  // Under another SKU by mistake: neither moved nor passed over in silence.
  copyFileSync(STOCK, file("mistake.csv"));
  const mistake = await run(`stock import ${file("mistake.csv")} --sku ES-EU-1GB-7D --json`);
  expect([mistake.exitCode, JSON.parse(mistake.stdout)]).toMatchObject([
    1,
    { imported: 0, duplicates: 0, rejected: 60 },
  ]);
  expect(readFileSync(file("mistake.rejected.csv"), "utf8")).toContain("iccid is in stock for ES-EU-5GB-30D");
  expect(await failure(`stock import ${STOCK} --sku NONE`)).toMatchObject({ exitCode: 1, code: "not_found" });
  writeFileSync(file("wrong.csv"), "iccid,activation_code\n8944590006343324005,LPA:1$rsp.example.com$ABC-1\n");
  expect((await run(`stock import ${file("wrong.csv")} --sku ES-EU-1GB-7D`)).exitCode).toBe(1);
  expect(readFileSync(file("wrong.rejected.csv"), "utf8")).toMatch(/check digit/);
  const lax = `stock import ${file("wrong.csv")} --sku ES-EU-1GB-7D --no-luhn`;
  expect(await json(lax)).toMatchObject({ imported: 1, rejected_file: null });

  const { data } = Object(await json("stock list"));
  const of = (sku: string) => data.find((level: { sku: string }) => level.sku === sku)?.available;
  expect([of("ES-EU-5GB-30D"), of("ES-EU-1GB-7D"), of("ES-GLB-1GB-7D")]).toEqual([60, 1, 0]);
  const low = (below: number) => json(`stock low --below ${below}`).then((list) => Object(list).data.map(skuOf));
  expect(await low(60)).not.toContain("ES-EU-5GB-30D");
  expect(await low(61)).toContain("ES-EU-5GB-30D");
  expect((await run("stock low --below 61")).stderr).toBe("On sale with fewer than 61 eSIMs in stock.");
  await json("products update ES-EU-5GB-30D --status inactive");
  expect(await low(61)).not.toContain("ES-EU-5GB-30D");
});

function skuOf({ sku }: { sku: string }): string {
  return sku;
}
