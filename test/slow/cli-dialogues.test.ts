/** @module-tag slow */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { request } from "../support/activations.ts";
import { esimctlJson } from "../support/cli.ts";
import { startDaemon } from "../support/daemon.ts";
import { eventually } from "../support/hangs.ts";
import { writePassportFile } from "../support/passport-file.ts";
import { temporaryDirectory } from "../support/store.ts";
import { openTerminal } from "../support/terminal.ts";

/** Data with the partners `acme` and `globex`, and a terminal of a given width in its folder. */
async function installation({ columns = 90 } = {}) {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
  const json = async (line: string): Promise<any> => esimctlJson([...line.split(" "), "--data", data], { cwd: folder });
  await json("init");
  for (const slug of ["acme", "globex"]) await json(`partners create ${slug} --name ${slug} --agent`);
  const env = { ESIMCTL_DATA: data, XDG_CONFIG_HOME: folder };
  const file = (name: string, lines: string[]) => writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  return { folder, data, json, file, terminal: await openTerminal({ cwd: folder, columns, env }) };
}

/** The same, served; credentials are acme's for the sandbox, and new: nothing was counted for them yet. */
async function served() {
  const all = await installation();
  const { url } = await startDaemon({ data: all.data });
  const credential = () => all.json("credentials create --partner acme");
  const withoutLogin = async () => {
    const { client_id, client_secret } = await credential();
    return `--server ${url} --client-id ${client_id} --client-secret ${client_secret}`;
  };
  return { ...all, url, credential, withoutLogin };
}

const FAR = "2031-03-10";

/** A CSV of requests for SIMs of their own, each for a customer of its own. */
function sims(count: number): string[] {
  const rows = Array.from({ length: count }, (_, at) =>
    request({ activation_date: FAR, passport_expiry: "2034-01-01", first_name: `Ada${at}`, last_name: "Nuñez" }),
  );
  return [Object.keys(rows[0] ?? {}).join(","), ...rows.map((row) => Object.values(row).join(","))];
}

test("missing required values are asked for; an invalid answer is asked for again", async () => {
  const { terminal, json } = await installation({ columns: 60 });
  const { esimctl, shows, enter, press, clear } = terminal;
  await esimctl("wallet credit");
  await shows(/Partner:[\s\S]*acme[\s\S]*globex/);
  await enter("glo");
  await shows(/Partner: globex[\s\S]*Amount/);
  await enter("1,5");
  await shows(/must be a plain decimal/);
  await press("C-u");
  await enter("12.50");
  await shows(/Currency/);
  await enter("AUD");
  await shows(/Reference of the payment \(Enter: none\)/);
  await enter("INV-1");
  await shows(/balance +12\.50 AUD[\s\S]*ended with 0/);
  await clear();
  await esimctl("partners create");
  await shows(/Slug/);
  await enter("initech");
  await shows(/Name/);
  await press("C-c");
  expect(await shows(/ended with 130/)).toMatch(/Interrupted\.\n.*Nothing was changed\.\nended/);
  expect(await json("partners list")).toMatchObject({ count: 2 });
  await clear();
  await esimctl("wallet credit --yes");
  await shows(/'--partner <slug>' not specified[\s\S]*ended with 2/);
});

test("a confirmation names the record and the place; a no is no error, and changes nothing", async () => {
  const { terminal, json, data } = await installation();
  const { esimctl, shows, enter, clear } = terminal;
  const { client_id } = await json("credentials create --partner acme");
  await esimctl(`credentials revoke ${client_id}`);
  await shows(new RegExp(`Revoke ${client_id}\\?[\\s\\S]*\\(acme, sandbox,\\s[\\s\\S]*${data.slice(-8)}`));
  await enter("n");
  expect(await shows(/ended with 1/)).toMatch(/\nNothing was changed\.\nended with 1\n/);
  expect(await json("credentials list --partner acme")).toMatchObject({ data: [{ status: "active" }] });
  await clear();
  await esimctl(`credentials revoke ${client_id}`);
  await shows(/\(y\/N\)/);
  await enter("y");
  await shows(/status +revoked[\s\S]*ended with 0/);
});

test("login asks for address, id and secret, and does not echo the secret", async () => {
  const { terminal, url, credential } = await served();
  const { client_id, client_secret } = await credential();
  const { esimctl, shows, enter, clear } = terminal;
  await esimctl("login");
  await shows(/Server:/);
  await enter("nowhere");
  await shows(/no address of a server/);
  await terminal.press("C-u");
  await enter(url);
  await shows(/Client id:/);
  await enter(client_id);
  await shows(/Client secret:/);
  await enter(client_secret);
  const seen = await shows(/Signed in[\s\S]*ended with 0/);
  expect(seen).not.toContain(client_secret.slice(0, 6));
  await clear();
  // The next login offers that address: Enter takes it.
  await esimctl("login");
  await shows(new RegExp(`Server: \\(${url}\\)`));
  await enter("");
  await shows(/Client id:/);
  await terminal.press("C-c");
  await shows(/ended with 130/);
});

test("Ctrl-D leaves a prompt as Ctrl-C does", async () => {
  const { terminal, json, file } = await installation();
  const { esimctl, shows, press, clear } = terminal;
  file("sims.csv", sims(2));
  await json("activations submit sims.csv --partner acme --sandbox");
  const { data } = await json("activations list --partner acme --sandbox");
  const ids = data.map(({ id }: { id: string }) => id).join(" ");
  for (const [line, question] of [
    [`activations cancel ${ids} --partner acme --sandbox`, /Cancel 2 activations\?/],
    ["activations reschedule --partner acme --sandbox", /Search 2 open/],
    ["partners create", /Slug/],
  ] as const) {
    await esimctl(line);
    await shows(question);
    await press("C-d");
    expect(await shows(/ended with \d/)).toMatch(/error: Interrupted\.\n.*Nothing was changed\.\nended with 130/);
    await clear();
  }
  expect((await json("activations list --status pending --partner acme --sandbox")).data).toHaveLength(2);
});

test("activations are searched over all pages at a server, selected, and rescheduled to a valid date", async () => {
  const { terminal, json, file, withoutLogin } = await served();
  const at = await withoutLogin();
  const { esimctl, shows, enter, press, clear } = terminal;
  await json("partners update acme --rate-limit 100000");
  await esimctl(`activations reschedule ${at}`);
  await shows(/no activation that could still be changed[\s\S]*ended with 1/);
  file("sims.csv", sims(120));
  await json("activations submit sims.csv --partner acme --sandbox");
  const day = async (name: string) => {
    const { data } = await json("activations list --all --partner acme --sandbox");
    return data.find((one: { customer_name: string }) => one.customer_name.startsWith(`${name} `)).activation_date;
  };
  for (const answer of ["n", "y"]) {
    await clear();
    await esimctl(`activations reschedule ${at}`);
    await shows(/Search 120 open by ICCID or name/);
    await enter("nobody");
    await shows(/Nothing open matches "nobody"/);
    // The oldest of them: it is on the last page.
    await enter("ada0 nunez");
    await shows(/1 found:[\s\S]*Ada0 Nuñez/);
    await press("Space", "Enter");
    await shows(/go on with 1/);
    await enter("ADA11");
    await shows(/11 found:/);
    await press("Space", "Down", "Space", "Enter");
    await shows(/go on with 3/);
    await enter("");
    await shows(/New date in Sydney \(today is \w{3} \d{4}-\d\d-\d\d\)/);
    await enter("01/12/2031");
    await shows(/"01\/12\/2031" is no day as YYYY-MM-DD/);
    await press("C-u");
    await enter("2031-02-30");
    await shows(/There is no 2031-02-30/);
    await press("C-u");
    await enter("2020-01-01");
    await shows(/is past/);
    await press("C-u");
    await enter("2031-05-06");
    await shows(/New note/);
    await enter("");
    await shows(/iccid +customer +date +new date\n(\S+ +Ada\d+ Nuñez +2031-03-10 +2031-05-06\n){3}/);
    await shows(/Move 3 activations to Tue 2031-05-06\?[\s\S]*sandbox/);
    await enter(answer);
    await shows(answer === "y" ? /3 requests: 3 done\.\nended with 0/ : /Nothing was changed\.\nended with 1/);
    expect(await day("Ada0")).toBe(answer === "y" ? "2031-05-06" : FAR);
  }
  expect(await day("Ada1")).toBe(FAR);
});

test("an unmatched column is picked, and an order is composed by pickers and confirmed", async () => {
  const { terminal, json, file } = await installation();
  const { esimctl, shows, enter, press, clear } = terminal;
  file("people.csv", [
    "first_name,last_name,Geburtstag,passport_no,passport_country,passport_expiry",
    "Ada,Lund,1964-12-31,C1234567,DEU,2034-01-01",
  ]);
  await esimctl("passports import people.csv --partner acme --sandbox");
  await shows(/Which column of the file is date_of_birth\?[\s\S]*Geburtstag/);
  await press("Enter");
  await shows(/imported +1[\s\S]*ended with 0/);
  file("plans.csv", [
    "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method,supplier",
    "MG8,Madagascar,Africa,MG,1024,7,42.90,AUD,data_only,esim_qr_api,supplier_email,island",
  ]);
  await json("products import plans.csv");
  for (const answer of ["n", "y"]) {
    await clear();
    await esimctl("orders create --partner acme --sandbox");
    await shows(/Product:[\s\S]*MG8 +Madagascar +42\.90 AUD/);
    // Enter does nothing while the list is searched.
    await press("mada");
    await shows(/\? Product: mada\s+❯ MG8/);
    await press("Enter");
    await shows(/Quantity:/);
    await enter("1");
    await shows(/Name of the traveler:/);
    await enter("Ada Lund");
    await shows(/E-mail address:/);
    await enter("ada@example.com");
    await shows(/Day of activation/);
    await enter("2031-02-30");
    await shows(/must be a real day/);
    await press("C-u");
    await enter("2031-03-10");
    await shows(/total +42\.90 AUD\s+traveler +Ada Lund, ada@example\.com, on 2031-03-10[\s\S]*Order 1 × MG8\?/);
    await enter(answer);
    await shows(answer === "y" ? /number +ORD-[\s\S]*ended with 0/ : /Nothing was changed\.\nended with 1/);
  }
});

test("an import shows progress; after Ctrl-C the same command imports the rest, and nothing twice", async () => {
  const ROWS = 30_000;
  const { terminal, json, folder } = await installation();
  const { esimctl, shows, press, clear } = terminal;
  const file = join(folder, "passports.csv");
  await writePassportFile(file, ROWS);
  writeFileSync(file, `${readFileSync(file, "utf8")}too,short\n`);
  const line = "passports import passports.csv --partner acme --sandbox";
  await esimctl(line);
  await shows(/Importing .*[1-9]\d*% \| \d+ of 30001 \| \d+\/s \| .* left/);
  await press("C-c");
  const screen = await shows(/ended with 130/);
  expect(screen).toMatch(/Interrupted\. The same command again finishes it; nothing is done twice\.\nended/);
  const imported = Number(/imported +(\d+)/.exec(screen)?.[1]);
  expect(imported).toBeGreaterThan(0);
  expect(imported).toBeLessThan(ROWS);
  expect(readFileSync(join(folder, "passports.rejected.csv"), "utf8")).toMatch(/\ntoo,short,.*,30002,has 2 fields/);
  await clear();
  await esimctl(line);
  expect(await shows(/ended with 3/)).toMatch(
    new RegExp(`imported +${ROWS - imported}\\n[\\s\\S]*duplicates +${imported}\\nrejected +1, in`),
  );
  expect(await json("passports list --all --partner acme --sandbox")).toMatchObject({ count: ROWS });
});

test("Ctrl-C during a wait for a server ends submit with totals of what was done", async () => {
  const { terminal, json, file, folder, withoutLogin } = await served();
  const at = await withoutLogin();
  const { esimctl, shows, press, clear } = terminal;
  file("sims.csv", sims(30));
  // Without an agent record lines go one by one.
  await json("partners update acme --rate-limit 12 --no-agent");
  await esimctl(`activations submit sims.csv ${at}`);
  await shows(/Rate limit reached: going on in \d+ s/);
  await press("C-c");
  const submitted = Number(/submitted +(\d+)/.exec(await shows(/Interrupted\.[\s\S]*ended with 130/))?.[1]);
  expect(submitted).toBeGreaterThan(0);
  expect((await json("activations list --all --partner acme --sandbox")).count).toBe(submitted);
  expect(existsSync(join(folder, "sims.rejected.csv"))).toBe(false);
  await json("partners update acme --rate-limit 100000");
  await clear();
  await esimctl(`activations submit sims.csv ${at}`);
  await shows(new RegExp(`submitted +${30 - submitted}\\nduplicates +${submitted}\\n[\\s\\S]*ended with 0`));
});

test("Ctrl-C during a wait for a server ends bulk orders with totals of what was done", async () => {
  // An installation of its own: requests of all credentials count towards the partner's rate.
  const { terminal, json, file, withoutLogin } = await served();
  const { esimctl, shows, press, clear } = terminal;
  file("plans.csv", [
    "sku,name,region,coverage,data_amount_mb,validity_days,price,currency,type,product_type,delivery_method",
    "EU5,Europe,Europe,FR,1024,7,1.00,AUD,data_only,esim_qr_pregen,stock",
  ]);
  await json("products import plans.csv");
  const rows = Array.from({ length: 150 }, (_, at) => `PO-${at},EU5,1,ada@example.com,Ada`);
  file("orders.csv", ["external_order_id,sku,quantity,customer_email,customer_name", ...rows]);
  await json("partners update acme --rate-limit 2");
  const placing = `orders bulk orders.csv ${await withoutLogin()}`;
  await esimctl(placing);
  await shows(/Rate limit reached: going on in \d+ s/);
  await press("C-c");
  await shows(
    /150 orders: 100 placed, now or before; 50 not sent\.\s+Interrupted\. The same command.*\nended with 130/,
  );
  await json("partners update acme --rate-limit 100000");
  await clear();
  await esimctl(placing);
  await shows(/150 orders: 150 placed, now or before\.\nended with 0/);
  expect((await json("orders list --all --partner acme --sandbox")).data).toHaveLength(150);
});

test("a backup is sealed with a passphrase typed twice without an echo, and opens with it", async () => {
  const { terminal } = await installation();
  const { esimctl, shows, enter, clear } = terminal;
  await esimctl("backup one.backup --seal");
  await shows(/Passphrase to seal the backup with/);
  await enter("several random words");
  await shows(/The same passphrase again/);
  await enter("several random worms");
  await shows(/The two passphrases differ[\s\S]*ended with 2/);
  await clear();
  await esimctl("backup one.backup --seal");
  await shows(/Passphrase to seal the backup with/);
  await enter("several random words");
  await shows(/The same passphrase again/);
  await enter("several random words");
  expect(await shows(/sealed +yes[\s\S]*ended with 0/)).not.toContain("random");
  await clear();
  await esimctl("verify-backup one.backup");
  await shows(/Passphrase of one\.backup/);
  await enter("several random words");
  await shows(/opens the data keys[\s\S]*ended with 0/);
});

test("a verb without an argument picks from its queue; a number that only some need is asked for", async () => {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
  const json = async (line: string): Promise<any> => esimctlJson([...line.split(" "), "--data", data], { cwd: folder });
  await json("init --demo");
  await json("carriers set 896103 --adapter manual");
  const env = { ESIMCTL_DATA: data, XDG_CONFIG_HOME: folder };
  const { esimctl, shows, enter, press, clear } = await openTerminal({ cwd: folder, columns: 80, env });
  await esimctl("orders ship --carrier Post --tracking T1");
  await shows(/No SIM card waits to be shipped\.[\s\S]*ended with 1/);
  await clear();

  await startDaemon({ data });
  const order = await json("orders create --partner demo --product ES-GLB-3GB-15D --quantity 60");
  const activation_date = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(new Date());
  const sim = request({ activation_date, passport_expiry: "2034-01-01", first_name: "Ada", last_name: "Lovelace" });
  writeFileSync(join(folder, "sims.csv"), `${Object.keys(sim).join(",")}\n${Object.values(sim).join(",")}\n`);
  await json("activations submit sims.csv --partner demo");
  for (const queue of ["orders queue", "activations queue"])
    await eventually(
      () => json(queue),
      ({ count }) => count === 1,
    );
  await esimctl("orders approve");
  await shows(new RegExp(`Order that waits for review:[\\s\\S]*${order.order_number} +demo +60 × ES-GLB-3GB-15D`));
  await press("Enter");
  await shows(/still short[\s\S]*ended with 1/);
  await clear();
  await esimctl("activations complete");
  await shows(/Request, by ICCID[\s\S]*Ada Lovelace/);
  await enter("lovelace");
  await shows(/Mobile number of SIM \d+ of Ada Lovelace:/);
  await enter("+61491570156");
  await shows(/completed for good with\s+the number \+61491570156[\s\S]*Go on\?/);
  await enter("y");
  await shows(/status +completed[\s\S]*mobile number +\+61491570156[\s\S]*ended with 0/);
});
