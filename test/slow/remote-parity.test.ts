/** @module-tag slow */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { esimctl } from "../support/cli.ts";
import { eventually } from "../support/hangs.ts";
import { document, served } from "../support/remote.ts";

const fixtures = join(import.meta.dirname, "..", "..", "fixtures");

/** A partner signed in at a server, and the same commands on the data behind it. */
async function bothPlaces() {
  const { login, run, json, data, live, operator, cwd } = await served();
  await login(live);
  const local = (line: string) =>
    document(esimctl([...line.split(" "), "--data", data, "--partner", "demo", "--json"]));
  const both = async (line: string) => {
    const [there, here] = [await json(line), await local(line)];
    expect(there, line).toEqual(here);
    return there;
  };
  return { run, json, local, both, data, operator, cwd };
}

test("partner-side reads print the same at a server as on its data", async () => {
  const { run, json, local, both, data } = await bothPlaces();
  const order = await json("orders create --product ES-EU-5GB-30D --quantity 2 --idempotency-key k-1");
  expect(await local("orders create --product ES-EU-5GB-30D --quantity 2 --idempotency-key k-1")).toMatchObject({
    id: order.id,
  });
  await eventually(
    () => local(`orders show ${order.id}`),
    ({ status }) => status === "fulfilled",
  );
  await both(`orders show ${order.id}`);
  await both("orders list");
  expect(await both(`orders show ${order.order_number}`)).toMatchObject({ id: order.id });
  expect((await run("orders show ORD-20260101-AAAAA")).stderr).toMatch(/No order here has the number/);
  const { esims } = await both(`orders esims ${order.id}`);
  expect(esims).toHaveLength(2);
  await both(`esims status ${esims[0].iccid}`);
  await both("wallet balance");
  const { data: products } = await both("products list --all --sort-by name --sort-order asc");
  expect(products.length).toBeGreaterThan(20);
  await both("products show ES-EU-5GB-30D");
  const { generated_at, ...offers } = await json("catalog export --format shopify");
  expect(await local("catalog export --format shopify")).toMatchObject(offers);
  const csv = "catalog export --format woocommerce --as csv";
  expect((await run(csv)).stdout).toBe((await esimctl([...csv.split(" "), "--data", data])).stdout);
});

test("partner-side changes print the same at a server as on its data", async () => {
  const { run, json, both, operator, cwd } = await bothPlaces();
  const created = await json("webhooks create https://shop.example.com/hooks --events order.created,order.fulfilled");
  await both("webhooks list");
  await both(`webhooks show ${created.webhook.id}`);
  await both(`webhooks update ${created.webhook.id} --description desk`);
  await both(`webhooks disable ${created.webhook.id}`);
  await both(`webhooks enable ${created.webhook.id}`);
  await both(`webhooks deliveries --endpoint ${created.webhook.id}`);
  await both(`webhooks replay ${created.webhook.id} --since 1h`);
  expect(await json(`webhooks delete ${created.webhook.id} --yes`)).toMatchObject({ deleted: true });

  const imported = await json(`passports import ${join(fixtures, "passports.csv")}`);
  expect(imported.imported).toBeGreaterThan(10);
  const { records } = await both("passports list");
  await both(`passports show ${records[0].passport_no}`);
  expect(await json(`passports edit ${records[0].id} --reference R-9`)).toMatchObject({ ok: true });
  expect(await json(`passports withdraw ${records[0].id} --yes`)).toMatchObject({ status: "withdrawn" });
  expect(await json(`passports import ${join(fixtures, "passports.csv")}`)).toMatchObject({
    imported: 1,
    duplicates: imported.imported - 1,
  });

  // Ten of its lines draw from the pool.
  const sims = join(cwd, "sims.csv");
  copyFileSync(join(fixtures, "activations.csv"), sims);
  const dry = JSON.parse((await run(`activations submit ${sims} --dry-run --json`)).stdout);
  const submitted = JSON.parse((await run(`activations submit ${sims} --json`)).stdout);
  expect(submitted.submitted).toBeGreaterThan(0);
  expect(dry.rejected).toBe(0);
  const { data: activations } = await both("activations list --all");
  expect(activations).toHaveLength(submitted.submitted);
  await both(`activations show ${activations[0].id}`);
  const cancelled = await json(`activations cancel ${activations[0].id} --yes`);
  expect(cancelled).toMatchObject({ summary: { total: 1, successful: 1 } });

  const file = join(cwd, "orders.csv");
  const header = "external_order_id,sku,quantity,customer_email,customer_name";
  writeFileSync(file, `${header}\nX-1,ES-EU-5GB-30D,1,a@example.com,Ada\nX-2,ES-NONE,1,b@example.com,Bo\n`);
  const placed = await run(`orders bulk ${file} --json`);
  expect(placed.exitCode).toBe(3);
  expect(JSON.parse(placed.stdout)).toMatchObject({ summary: { total: 1, successful: 1, failed: 0 } });
  expect(await operator("wallet check")).toMatchObject({ ok: true });
});
