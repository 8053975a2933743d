/** @module-tag slow */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { SMTPServer } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";
import { payloadHash } from "../../src/core/kernel/canonical.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createOrder } from "../../src/core/orders/create.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { prepareDataDirectory } from "../../src/core/platform/data-directory.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import { setSupplier } from "../../src/core/suppliers/set.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import { addProducts } from "../support/catalog.ts";
import { type Served, startDaemon } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { freshUrl, temporaryDirectory } from "../support/store.ts";

const MAILS = 60;
/** Requests to suppliers that the worker has under way at the same time. */
const IN_FLIGHT = 16;

/** A slow SMTP server that records the recipients of accepted mail. */
async function slowSmtpServer() {
  const references: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        await pause(60);
        const reference = /^Message-ID: <([^@]+)@/m.exec(Buffer.concat(chunks).toString())?.[1];
        if (reference !== undefined) references.push(reference);
        done();
      });
    },
  });
  server.on("error", () => undefined); // a killed client breaks its connection
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo; // it listens on a port
  return { references, url: `smtp://127.0.0.1:${port}` };
}

/** Orders of one traveler each, due at once, in a database to be served. */
async function placedOrders(url: string | undefined): Promise<Served> {
  const data = join(temporaryDirectory(), "data");
  const { databaseFile, keyFile } = prepareDataDirectory(data, randomIds());
  const dependencies = { clock: systemClock, ids: randomIds(), masterKey: readMasterKey(keyFile) };
  const store = await openStore(url === undefined ? { file: databaseFile, create: true } : { url }, dependencies);
  const fields = { product_type: "esim_qr_api", delivery_method: "supplier_email", supplier: "kestrel" } as const;
  const { MAIL = "" } = await addProducts(store, [{ sku: "MAIL", price_cents: 100, ...fields }]);
  const settings = { adapter: "email" as const, to: "orders@kestrel.test" };
  await store.write(setSupplier, { name: "kestrel", settings, actor: "operator" });
  const { id: partnerId } = await store.write(createPartner, {
    slug: "acme",
    name: "Acme",
    production: true,
    actor: "x",
  });
  await store.write(creditWallet, { partnerId, amount: minorUnits(100_000), currency: "AUD", actor: "operator" });
  for (let index = 0; index < MAILS; index++) {
    const traveler = { customer_email: "mia@example.com", customer_name: `Mia ${index}`, customer_phone: null };
    const when = { activation_date: new Date().toISOString().slice(0, 10), timezone: "UTC" };
    await store.write(createOrder, {
      partnerId,
      environment: "production",
      key: { space: "single", value: String(index) },
      payloadHash: payloadHash(index),
      lines: [{ product_id: MAIL, quantity: 1 }],
      metadata: {},
      activationRequests: [{ product_id: MAIL, ...traveler, ...when, eid_number: null, selected_plan_id: null }],
      customer: null,
    });
  }
  await store.close();
  return url === undefined ? { data } : { database: url, keyFile };
}

function submittedItems(served: Served): Promise<string[]> {
  const query = "SELECT id FROM order_items WHERE status = 'submitted'";
  return inSnapshot(locationOf(served), async (rows) => (await rows<{ id: string }>(query)).map(({ id }) => id));
}

async function until(condition: () => boolean | Promise<boolean>, seconds: number): Promise<void> {
  for (let waited = 0; !(await condition()); waited += 50) {
    if (waited > seconds * 1000) throw new Error("it did not come about");
    await pause(50);
  }
}

test("the supplier gets each mail once, also across kill -9", async () => {
  const smtp = await slowSmtpServer();
  const url = await freshUrl();
  const served = await placedOrders(url);
  const flags = ["--smtp-url", smtp.url, "--public-url", "http://esim.test"];
  const first = await startDaemon({ ...served, flags });
  await until(() => smtp.references.length >= MAILS / 3, 60);
  await first.kill();
  // Work in flight at the kill is taken over when its lease has expired: on SQLite two minutes at the latest.
  if (url !== undefined) await endLeases(url);
  const recorded = await submittedItems(served);
  expect(recorded.length).toBeLessThan(MAILS);

  const second = await startDaemon({ ...served, flags });
  await until(async () => (await submittedItems(served)).length === MAILS, 240);
  await second.stop();
  const submitted = await submittedItems(served);
  const times = (id: string) => smtp.references.filter((reference) => reference === id).length;
  expect(new Set(smtp.references)).toEqual(new Set(submitted));
  // What was known to be sent is never sent again; only what was in flight may be, under the same message id.
  expect(recorded.filter((id) => times(id) !== 1)).toEqual([]);
  const repeated = submitted.filter((id) => times(id) > 1);
  console.info(`${repeated.length} of ${MAILS} mails were sent twice; at most ${IN_FLIGHT} were in flight`);
  expect(repeated.length).toBeLessThanOrEqual(IN_FLIGHT);
});
