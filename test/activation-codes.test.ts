import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { activationCode, readActivationCode } from "../src/core/esims/activation-code.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { supplyOutcome } from "../src/daemon/gateways/supplier-response.ts";
import { demoData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const PLAIN = "LPA:1$smdp.example.net$K2-7YTQ1";
const OID = "1.3.6.1.4.1.53860.7.5";

/** As suppliers write codes, and the code that a phone gets. */
const spelled: [written: string, code: string][] = [
  [PLAIN, PLAIN],
  ["lpa:1$smdp.example.net$K2-7YTQ1", PLAIN],
  ["1$smdp.example.net$K2-7YTQ1", PLAIN],
  ["LPA: 1$smdp.example.net$K2-7YTQ1 ", PLAIN],
  ['"LPA:1$smdp.example.net$K2-7YTQ1"', PLAIN],
  ["https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA%3A1%24smdp.example.net%24K2-7YTQ1", PLAIN],
  ["https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:1$smdp.example.net$K2-7YTQ1", PLAIN],
  [`${PLAIN}$${OID}$1`, `${PLAIN}$${OID}$1`],
  [`${PLAIN}$${OID}`, `${PLAIN}$${OID}`],
  [`${PLAIN}$$1`, `${PLAIN}$$1`],
  ["LPA:1$smdp.example.net$", "LPA:1$smdp.example.net$"],
  [`LPA:1$smdp.example.net$$${OID}`, `LPA:1$smdp.example.net$$${OID}`],
];

const refused: [written: string, words: string][] = [
  ["LPA:1$smdp.example.net:8443$K2", "must be a host name without a port"],
  ["LPA:1$https://smdp.example.net$K2", "without https://"],
  ["LPA:2$smdp.example.net$K2", "must look like LPA:1$"],
  ["LPA:1$smdp.example.net", "must look like LPA:1$"],
  ["LPA:1$smdp.example.net$K2_7", "matching ID has other characters"],
  ["LPA:1$smdp.example.net$K2$1.x$1", "must be an object identifier"],
  ["LPA:1$smdp.example.net$K2$$2", "fifth part must be 1"],
];

test("a code is read as suppliers write it, and comes out whole", () => {
  for (const [written, code] of spelled) {
    const read = readActivationCode(written);
    expect("ok" in read ? activationCode(read.ok) : read.problems, written).toBe(code);
  }
  for (const [written, words] of refused) {
    expect(readActivationCode(written), written).toEqual({ problems: expect.stringContaining(words) });
  }
});

test("a supplier's answer may spell codes and ICCIDs so", () => {
  for (const [activation_code, code] of spelled) {
    const answer = { outcome: "activated" as const, esims: [{ iccid: "8944590004463637008", activation_code }] };
    const outcome = supplyOutcome(answer, { least: 1, most: 1 });
    expect(outcome, activation_code).toMatchObject({ kind: "activated" });
    if (outcome.kind === "activated") expect(outcome.esims.map(activationCode)).toEqual([code]);
  }
});

test("stock keeps a code's identifier and flag up to the customer, and names what contradicts itself", async () => {
  const { data } = await demoData();
  const file = join(temporaryDirectory(), "stock.csv");
  const iccids = Array.from({ length: 6 }, (_, at) => `8944${String(880 + at * 7).padStart(14, "0")}`).map(
    (digits) => digits + luhnDigit(digits),
  );
  const rows = [
    [iccids[0], "", "", `lpa:1$smdp.example.net$A1$${OID}$1`, ""],
    [iccids[1], "smdp.example.net", "", "A2", ""],
    [iccids[2], "smdp.example.net", "A4", "LPA:1$smdp.example.net$A3", ""],
    [iccids[3], "smdp.example.net:443", "A5", "", ""],
    [iccids[4], "smdp.example.net", "", "LPA:1$SMDP.example.net$A6$$1", "4711"],
  ];
  writeFileSync(file, ["iccid,smdp_address,matching_id,activation_code,confirmation_code", ...rows].join("\n"));
  const args = ["stock", "import", file, "--sku", "ES-GLB-3GB-15D", "--data", data];
  const ended = await esimctl([...args, "--json"]);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    ...{ imported: 3, rejected: 2 },
    warnings: [{ reason: "activation_code asks for a confirmation code, and the row has none", rows: 1 }],
  });
  const rejected = readFileSync(file.replace(".csv", ".rejected.csv"), "utf8");
  expect(rejected).toContain("activation_code says another matching_id than its column");
  expect(rejected).toContain("smdp_address must be a host name without a port");
  expect(JSON.parse((await esimctl([...args, "--json"])).stdout)).toMatchObject({ imported: 0, duplicates: 3 });
  const order = ["orders", "create", "--partner", "demo", "--product", "ES-GLB-3GB-15D", "--quantity", "3"];
  const { id } = Object(await esimctlJson([...order, "--data", data]));
  const { esims } = Object(await esimctlJson(["orders", "esims", id, "--partner", "demo", "--data", data]));
  expect(esims.map((esim: { activation_code: string }) => esim.activation_code).sort()).toEqual([
    ...[`LPA:1$SMDP.example.net$A6$$1`, `LPA:1$smdp.example.net$A1$${OID}$1`, "LPA:1$smdp.example.net$A2"],
  ]);
});
