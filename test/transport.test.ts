import { chmodSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";
import { attemptsOfActivation } from "../src/core/activations/reveal.ts";
import { setCarrier } from "../src/core/carriers/set.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { CARRIER_SECRET, withHttpCarrier } from "./support/carrier.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { startDaemon, targetOf } from "./support/daemon.ts";
import { httpSupplier } from "./support/http-supplier.ts";
import { newData } from "./support/installation.ts";
import { startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { openShop } from "./support/shop.ts";
import { freshPostgres, onPostgres, runStatements, temporaryDirectory } from "./support/store.ts";
import { placeOrder, supplyWorker } from "./support/supplies.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** Resolves to this machine, and is no loopback address: to the program it is another host. */
const ELSEWHERE = "0.0.0.0";
const elsewhere = (url: string) => url.replace("127.0.0.1", ELSEWHERE);

async function shopAnywhere() {
  const url = onPostgres ? (await freshPostgres()).url : undefined;
  const { served } = await openShop({ folder: temporaryDirectory(), url, stock: {}, priceCents: 1, fundsCents: 1 });
  const { args, env } = targetOf(served);
  return { served, run: (line: string) => esimctl([...line.split(" "), ...args, "--json"], { env }) };
}

test("carriers and suppliers beyond this machine need https, or --insecure, which doctor reports", async () => {
  const { run } = await shopAnywhere();
  const secret = "--secret sixteen-characters-at-least";
  for (const noun of ["carriers set 896103", "suppliers set northwind"]) {
    const set = `${noun} --adapter http ${secret}`;
    const refused = await run(`${set} --url http://api.example/x`);
    expect(refused.exitCode).toBe(1);
    expect(JSON.parse(refused.stdout).error.message).toMatch(/url must be https beyond this machine.*--insecure/);
    for (const url of ["https://api.example/x", "http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/x"]) {
      const done = await run(`${set} --url ${url}`);
      expect([done.exitCode, JSON.parse(done.stdout).insecure], url).toEqual([0, false]);
    }
    const allowed = await run(`${set} --url http://api.example/x --insecure`);
    expect([allowed.exitCode, JSON.parse(allowed.stdout).insecure]).toEqual([0, true]);
    // The permission stays with the address, and ends with it.
    expect(JSON.parse((await run(`${noun} ${secret}`)).stdout).insecure).toBe(true);
    expect((await run(`${noun} --url http://other.example/x`)).exitCode).toBe(1);
  }
  const { findings } = JSON.parse((await run("doctor")).stdout);
  const transport = findings.filter(({ check }: { check: string }) => check === "transport");
  expect(transport).toMatchObject([
    { level: "warning", message: "Requests to the carrier 896103 go without TLS to http://api.example/x." },
    { level: "warning", message: "Requests to the supplier northwind go without TLS to http://api.example/x." },
  ]);
});

test("a carrier's cleartext address of an earlier version gets no data until the operator decides", async () => {
  const { store, location, carrier, due, work, show, partner, clock } = await withHttpCarrier();
  await runStatements(location, [`UPDATE carriers SET url = '${elsewhere(carrier.url)}' WHERE prefix = '896103'`]);
  const id = await due();
  await work();
  expect(carrier.asked).toEqual([]);
  expect(await show(partner, id)).toMatchObject({ status: "processing" });
  const kept = await store.read(attemptsOfActivation, id);
  expect(kept).toMatchObject([{ outcome: "temporary", answer: expect.stringMatching(/address is not https/) }]);
  const settings = { insecure: true, secret: CARRIER_SECRET };
  await store.write(setCarrier, { prefix: "896103", settings, actor: "operator" });
  clock.advance(60_000);
  await work();
  expect(carrier.asked).toHaveLength(1);
});

test("a supplier's cleartext address of an earlier version gets no data until the operator decides", async () => {
  const platform = await startPlatform();
  const supplier = await httpSupplier(() => ({ body: { outcome: "accepted" } }));
  const products = await addProducts(platform.store, suppliedProducts);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const settings = { adapter: "http" as const, url: supplier.url, secret: CARRIER_SECRET };
  await platform.store.write(setSupplier, { name: "northwind", settings, actor: "operator" });
  await runStatements(platform.location, [`UPDATE suppliers SET url = '${elsewhere(supplier.url)}'`]);
  await placeOrder(caller, products.API);
  await settled(supplyWorker(platform.store, platform.clock.now));
  expect(supplier.asked).toEqual([]);
});

/** A mail server that takes mail without TLS. */
async function plainSmtp() {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, _session, done) => void stream.resume().on("end", () => done()),
  });
  await new Promise<void>((resolve) => void server.listen(0, ELSEWHERE, resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.server.address() as AddressInfo).port; // it listens on a port
}

test("mail is sent beyond this machine by TLS only, whatever its address, or with --insecure", async () => {
  const port = await plainSmtp();
  const send = async (host: string, query: string, options?: { insecure: boolean }) => {
    const mailer = createMailer(`smtp://${host}:${port}${query}`, options);
    onTestFinished(() => mailer.close());
    return mailer.send({ to: "orders@kestrel.test", subject: "x", text: "x", reference: "r" });
  };
  for (const query of ["", "?ignoreTLS=true", "?requireTLS=false&opportunisticTLS=true"]) {
    expect(await send(ELSEWHERE, query), query).toMatchObject({
      kind: "temporary",
      reason: expect.stringMatching(/offers no TLS/),
    });
  }
  expect(await send(ELSEWHERE, "", { insecure: true })).toEqual({ kind: "accepted" });
  expect(await send("127.0.0.1", "")).toEqual({ kind: "accepted" });
});

test("every command reaches a PostgreSQL beyond this machine by verified TLS only, or with --insecure", async () => {
  const keyFile = join(await newData(), "esimctl.key");
  const attempt = async (query: string, more: string[] = [], env: Record<string, string> = {}) => {
    const database = `postgres://user:secret@${ELSEWHERE}:1/esimctl${query}`;
    const ended = await esimctl(["partners", "list", "--database", database, "--key-file", keyFile, ...more], { env });
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).not.toContain("secret@");
    return ended.stderr;
  };
  for (const query of ["", "?sslmode=disable", "?ssl=0"]) expect(await attempt(query), query).toMatch(/without TLS/);
  expect(await attempt("?sslmode=no-verify")).toMatch(/would not be verified/);
  expect(await attempt("?uselibpqcompat=true&sslmode=require")).toMatch(/would not be verified/);
  expect(await attempt("?sslmode=verify-full")).toMatch(/cannot be reached/);
  expect(await attempt("", ["--insecure"])).toMatch(/cannot be reached/);
  expect(await attempt("", [], { ESIMCTL_INSECURE: "yes" })).toMatch(/cannot be reached/);
  const data = await newData();
  const moved = await esimctl(["migrate-to", `postgres://user@${ELSEWHERE}:1/esimctl`, "--data", data]);
  expect(moved.stderr).toMatch(/without TLS/);
  const doctor = ["doctor", "--database", `postgres://user@${ELSEWHERE}:1/x`, "--key-file", keyFile];
  expect((await esimctl(doctor)).stdout).toMatch(/without TLS/);
});

test.skipIf(onPostgres)(
  "serve warns of a wide directory, a wide lock and cleartext, and doctor finds them",
  { tags: ["slow"] },
  async () => {
    const data = await newData();
    const first = await startDaemon({ data });
    expect((await first.stop()).stdout).not.toMatch(/exposed_files|cleartext/);
    chmodSync(data, 0o755);
    chmodSync(join(data, "serve.lock"), 0o644);
    const daemon = await startDaemon({ data, flags: ["--host", ELSEWHERE] });
    const warnings = (await daemon.stop()).stdout.split("\n").filter((line) => line.includes('"level":"warn"'));
    const events = warnings.map((line) => JSON.parse(line).event).filter((event) => event !== "running_as_root");
    expect(events).toEqual(["exposed_files", "exposed_files", "cleartext"]);
    const { findings } = Object(await esimctlJson(["doctor", "--data", data]));
    const wrong = findings.filter(({ check }: { check: string }) => check === "directory" || check === "transport");
    expect(wrong).toMatchObject(
      [
        { check: "transport", level: "warning", message: /public address is not https/ },
        { check: "directory", level: "warning", remedy: `chmod 700 ${data}` },
        { check: "directory", level: "warning", remedy: `chmod 600 ${join(data, "serve.lock")}` },
      ].map(({ message, ...rest }) =>
        message === undefined ? rest : { ...rest, message: expect.stringMatching(message) },
      ),
    );
  },
);
