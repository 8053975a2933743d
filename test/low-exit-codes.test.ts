import { expect, test } from "vitest";
import { demoData } from "./support/installation.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

async function demo() {
  const { data } = await demoData();
  const run = (line: string) => esimctl([...line.split(" "), "--data", data]);
  return { run, json: async (line: string) => Object(await esimctlJson([...line.split(" "), "--data", data])) };
}

test("stock low and wallet check answer 1 with --exit-code when something is low, and 0 without it", async () => {
  const { run } = await demo();
  for (const [line, is, isNot] of [
    ["stock low", "--below 100000", "--below 0"],
    ["wallet check", "--min 100000000", "--min 0.01"],
  ]) {
    const codes = await Promise.all(
      [`${line} ${is}`, `${line} ${is} --exit-code`, `${line} ${isNot} --exit-code`].map((one) => run(one)),
    );
    expect([line, codes.map(({ exitCode }) => exitCode)]).toEqual([line, [0, 1, 0]]);
  }
});

test("wallet balance without a partner shows the balances of all", async () => {
  const { run, json } = await demo();
  await json("partners create acme --name Acme");
  await json("wallet credit --partner acme --amount 12.50 --currency EUR --reference R-1");
  const { balances, count } = await json("wallet balance");
  expect(count).toBe(balances.length);
  expect(balances).toContainEqual(expect.objectContaining({ partner: "acme", currency: "EUR", balance_cents: 1250 }));
  expect(new Set(balances.map(({ partner }: { partner: string }) => partner))).toEqual(new Set(["acme", "demo"]));
  expect((await run("wallet balance")).stdout).toMatch(/acme +12\.50 EUR/);
});

test("credentials create takes --production, of which --live is another name", async () => {
  const { run, json } = await demo();
  for (const flag of ["--production", "--live"]) {
    expect(await json(`credentials create --partner demo ${flag}`)).toMatchObject({ environment: "production" });
  }
  expect(await json("credentials create --partner demo --sandbox")).toMatchObject({ environment: "sandbox" });
  expect((await run("credentials create --partner demo --sandbox --production")).exitCode).toBe(2);
});
