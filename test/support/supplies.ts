import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { luhnDigit } from "../../src/core/kernel/check-digits.ts";
import type { Store } from "../../src/core/store/store.ts";
import { setSupplier } from "../../src/core/suppliers/set.ts";
import { createMailer } from "../../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../../src/daemon/gateways/signed-exchange.ts";
import { createProviders } from "../../src/daemon/gateways/suppliers/providers.ts";
import { createSupplierGateway } from "../../src/daemon/gateways/suppliers.ts";
import type { Pool } from "../../src/daemon/workers/pool.ts";
import { createSupplies, reviewOverdue, type SupplyDependencies } from "../../src/daemon/workers/supplier-requests.ts";
import type { Caller } from "./platform.ts";
import { settled } from "./pool.ts";

const SECRET = "a secret of at least sixteen";

/** A real HTTP supplier on loopback that answers nothing by itself. */
export interface HeldSupplier {
  url: string;
  /** The requests that it has got, in order. */
  asked: { reference: string; answer(body: object, status?: number): void }[];
  /** Resolves once it has got `count` requests in all. */
  got(count: number): Promise<void>;
  /** Answers every request from now on at once. */
  answers(body: object): void;
}

/** Starts one, stopped with the test. */
export async function heldSupplier(): Promise<HeldSupplier> {
  const asked: HeldSupplier["asked"] = [];
  const looks = new Set<() => void>();
  let atOnce: object | null = null;
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    for await (const _ of request);
    const answer = (body: object, status = 200) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    asked.push({ reference: String(request.headers["idempotency-key"]), answer });
    if (atOnce !== null) answer(atOnce);
    for (const look of looks) look();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/esims`, // it listens on a port
    asked,
    async got(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => asked.length >= count && resolve();
      looks.add(look);
      look();
      await promise;
      looks.delete(look);
    },
    answers(body) {
      atOnce = body;
    },
  };
}

/** Makes a supplier reachable over HTTP. */
export async function useHttpSupplier(store: Store, name: string, url: string): Promise<void> {
  await store.write(setSupplier, { name, settings: { adapter: "http", url, secret: SECRET }, actor: "test" });
}

/** A worker for suppliers on a store, as a daemon has one. */
export function supplyWorker(store: Store, now: () => number): Pool {
  const exchange = createSignedExchange(now);
  onTestFinished(() => exchange.close());
  const gateway = createSupplierGateway({ exchange, mailer: createMailer(undefined), publicUrl: "http://esim.test" });
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  const providers = createProviders({ store, now });
  onTestFinished(() => providers.close());
  return createSupplies({ store, gateway, providers, log });
}

/** Runs the worker for suppliers on all that is due. */
export async function supplyDue(deps: Omit<SupplyDependencies, "providers">): Promise<void> {
  await reviewOverdue(deps.store, new AbortController().signal);
  const providers = createProviders({ store: deps.store, now: Date.now });
  await settled(createSupplies({ ...deps, providers }));
  await providers.close();
}

/** An order of `quantity` units of a product; its id. */
export async function placeOrder(caller: Caller, product_id: string | undefined, quantity = 1): Promise<string> {
  const line_items = [{ product_id, quantity }];
  const headers = { "idempotency-key": crypto.randomUUID() };
  const { status, body } = await caller.send("POST", "/api/v1/orders", { line_items }, headers);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** An eSIM as suppliers deliver it; each `serial` is another one. */
export function suppliedEsim(serial: number): { iccid: string; activation_code: string } {
  const digits = `894477${String(serial).padStart(12, "0")}`;
  return { iccid: digits + luhnDigit(digits), activation_code: `LPA:1$smdp.example.net$S-${serial}` };
}

/** A supplier that delivers the same eSIMs for the same reference, and when (ms) it got each reference. */
export async function countingSupplier(): Promise<{ url: string; references: Map<string, number[]> }> {
  const references = new Map<string, number[]>();
  const delivered = new Map<string, object[]>();
  let serial = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a request's chunks are buffers
    const { quantity } = JSON.parse(Buffer.concat(chunks).toString());
    const reference = String(request.headers["idempotency-key"]);
    references.set(reference, [...(references.get(reference) ?? []), Date.now()]);
    const esims = delivered.get(reference) ?? Array.from({ length: quantity }, () => suppliedEsim(++serial));
    delivered.set(reference, esims);
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ outcome: "activated", esims }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on a port.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, references };
}
