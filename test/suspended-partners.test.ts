import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { demoData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

test("a suspension has a reason, and the operator's own acts for the partner ask, naming both", async () => {
  const { data } = await demoData();
  const run = (...args: string[]) => esimctl([...args, "--data", data]);
  const json = async (...args: string[]) => Object(await esimctlJson([...args, "--data", data]));
  const suspended = await json("partners", "suspend", "demo", "--reason", "unpaid since May", "--yes");
  expect(suspended).toMatchObject({ status: "suspended", suspended_reason: "unpaid since May" });
  expect((await run("partners", "show", "demo")).stdout).toMatch(/suspended for +unpaid since May/);
  const { data: trail } = await json("audit", "list", "--target", "demo");
  expect(trail[0].changes).toContainEqual({ field: "suspended_reason", from: null, to: "unpaid since May" });

  const order = ["orders", "create", "--partner", "demo", "--product", "ES-EU-5GB-30D", "--quantity", "1"];
  const folder = temporaryDirectory();
  const orders = join(folder, "orders.csv");
  const head = "external_order_id,sku,quantity,customer_email,customer_name";
  writeFileSync(orders, `${head}\nA-1,ES-EU-5GB-30D,1,anna@example.com,Anna Berg\n`);
  const sims = join(folder, "sims.csv");
  const date = `${new Date().getUTCFullYear() + 1}-03-01`;
  const identity = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry,address";
  const person = `Philippa,Underwold,1964-07-16,342075096,GBR,${new Date().getUTCFullYear() + 9}-12-20,Flat 4`;
  writeFileSync(
    sims,
    `iccid,activation_date,${identity},sim_last4,puk\n8961032200826199583,${date},${person},9583,22542821\n`,
  );
  const acts = [
    order,
    ["orders", "bulk", orders, "--partner", "demo"],
    ["activations", "submit", sims, "--partner", "demo"],
  ];
  for (const act of acts) {
    const asked = await run(...act);
    expect(asked, act.join(" ")).toMatchObject({ exitCode: 2, stdout: "" });
    expect(asked.stderr).toContain("demo is suspended (unpaid since May). Act for it all the same?");
  }
  expect((await json("orders", "list", "--partner", "demo")).data).toEqual([]);
  for (const act of acts) expect((await run(...act, "--yes")).exitCode, act.join(" ")).toBe(0);
  expect((await json("orders", "list", "--partner", "demo")).data).toHaveLength(2);
  expect(await json("partners", "resume", "demo")).toMatchObject({ status: "active", suspended_reason: null });
  expect((await run(...order)).exitCode).toBe(0);
});
