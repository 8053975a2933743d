import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { request } from "./support/activations.ts";
import { csvOf } from "./support/csv-files.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

// What is said in one way by all commands.

async function shop() {
  const folder = temporaryDirectory();
  const { data } = await openShop({ folder, stock: { EU5: 1 }, priceCents: 100, fundsCents: 1000 });
  const run = (line: string) => esimctl([...line.split(" "), "--data", data], { cwd: folder });
  const json = async (line: string, exitCode = 0) => {
    const ended = await run(`${line} --json`);
    expect(ended, line).toMatchObject({ exitCode });
    return JSON.parse(ended.stdout);
  };
  return { folder, run, json };
}

test("lists in time take --since and --until; of the wallet --from and --to are other names", async () => {
  const { run, json } = await shop();
  const endpoint = await json("webhooks create https://example.com/hook --partner acme --events order.fulfilled");
  await json("orders create --product EU5 --quantity 1 --partner acme");
  await json("webhooks trigger order.fulfilled --partner acme");
  const lists = [
    ...["wallet transactions", "wallet ledger", "orders list", "esims list", "events list"],
    ...["webhooks deliveries", `webhooks deliveries --endpoint ${endpoint.webhook.id}`, "audit list"],
  ];
  for (const list of lists) {
    const of = list === "audit list" ? list : `${list} --partner acme`;
    const count = async (times: string) => (await json(`${of} ${times}`)).data.length;
    const all = await count("--until 2100-01-01");
    expect(all, list).toBeGreaterThan(0);
    expect(await count("--since 1h"), list).toBe(all);
    expect(await count("--since 2100-01-01"), list).toBe(0);
    expect(await count("--until 2020-01-01"), list).toBe(0);
  }
  expect((await run("events list --partner acme --limit 1 --until 2020-01-01")).stdout).toBe("No events.");
  expect((await json("wallet transactions --partner acme --from 2020-01-01 --to 2020-02-01")).data).toEqual([]);
});

test("orders show has when it was fulfilled, its ICCIDs, and what people did in review", async () => {
  const { run, json } = await shop();
  const delivered = await json("orders create --product EU5 --quantity 1 --partner acme");
  const shown = await json(`orders show ${delivered.order_number}`);
  expect(shown).toMatchObject({ fulfilled_at: expect.any(String), iccids: [expect.stringMatching(/^\d{19,20}$/)] });
  const short = await json("orders create --product EU5 --quantity 1 --partner acme");
  await json(`orders cancel ${short.order_number} --reason typo --yes`);
  const cancelled = await json(`orders show ${short.order_number}`);
  expect(cancelled.history.map(({ action }: { action: string }) => action)).toContain("orders.cancel");
  expect(cancelled).toMatchObject({ fulfilled_at: null, cancelled_at: expect.any(String), iccids: [] });
  const { stdout } = await run(`orders show ${short.order_number}`);
  expect(stdout).toMatch(/orders\.cancel +operator/);
});

test("the states of the docs are those of --status", async () => {
  const { folder, json } = await shop();
  const dates = { activation_date: "2031-03-10", passport_expiry: "2034-01-01" };
  writeFileSync(join(folder, "sims.csv"), csvOf([request(dates)]));
  const as = "--partner acme --sandbox";
  await json(`activations submit sims.csv ${as}`);
  expect((await json(`activations list --status pending ${as}`)).count).toBe(1);
  for (const status of ["manual_required", "confirmed"]) {
    expect((await json(`activations list --status ${status} ${as}`)).count).toBe(0);
    expect((await json(`activations list --status ${status} --sandbox`)).count).toBe(0);
    expect((await json(`activations list --status ${status} --from 2031-01-01 ${as}`)).count).toBe(0);
  }
});

test("a verb's help shows what is special first, and what all take in one line", async () => {
  const { run } = await shop();
  const { stdout } = await run("orders create --help");
  const at = (words: string) => stdout.indexOf(words);
  expect(at("--quantity")).toBeGreaterThan(0);
  expect(at("--quantity")).toBeLessThan(at("--partner"));
  expect(at("--partner")).toBeLessThan(at("esimctl help options"));
  expect(stdout).not.toContain("answer every confirmation");
  const all = await esimctl(["help", "options"]);
  expect(all).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("answer every confirmation") });
});
