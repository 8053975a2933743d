import { expect, onTestFinished } from "vitest";
import { setCarrier } from "../../src/core/carriers/set.ts";
import type { ActivationId } from "../../src/core/kernel/brand.ts";
import type { CarrierAdapter } from "../../src/core/store/schema/values.ts";
import type { Read, Store } from "../../src/core/store/store.ts";
import { createCarrierGateway } from "../../src/daemon/gateways/carriers.ts";
import {
  createExchanges,
  type Prepared,
  prepareExchanges,
  releaseByCalendar,
} from "../../src/daemon/workers/activations.ts";
import { openedEvents } from "./events.ts";
import { type Caller, type Platform, startPlatform } from "./platform.ts";
import { settled } from "./pool.ts";

export const ACTIVATIONS = "/api/v1/activations";

let made = 0;

/** An ICCID of carrier A (896103) or B (58), with the ending that the simulator reads. */
export function iccid(carrier: "a" | "b" = "a", ending = "00"): string {
  made += 1;
  const prefix = carrier === "a" ? "896103" : "58";
  return `${prefix}${String(made).padStart(17 - prefix.length, "0")}${ending}`;
}

/** A valid request to carrier A; pass only what the test is about. */
export function request(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    iccid: iccid(),
    activation_date: "2026-03-10",
    first_name: "Philippa",
    last_name: "Underwold",
    date_of_birth: "1964-07-16",
    passport_no: "QX8342075",
    passport_country: "GBR",
    passport_expiry: "2029-12-20",
    address: "4 Currawong Drive",
    suburb: "Braddon",
    sim_last4: "9583",
    puk: "22542821",
    customer_email: "philippa@example.com",
    ...fields,
  };
}

/** The same to carrier B, which requires a title and no SIM digits. */
export function requestB(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const { sim_last4, puk, ...rest } = request({ iccid: iccid("b"), title: "Ms" });
  return { ...rest, ...fields };
}

/** The values of `request` that must not be in any response, event or log. */
const secrets = ["QX8342075", "22542821", "9583", "1964-07-16", "2029-12-20", "Currawong", "Braddon"];

/** Fails when any of the identity data of `request` is in `text`. ICCIDs may end like the SIM digits. */
export function expectNoIdentity(text: unknown): void {
  const words = typeof text === "string" ? text : JSON.stringify(text);
  for (const secret of secrets) expect(words).not.toContain(secret);
}

/** The kinds of events, in order. */
export const kinds = (events: { kind: string }[]) => events.map(({ kind }) => kind);

export interface ActivationPlatform extends Platform {
  /** Runs the worker on everything that is due now. */
  work(): Promise<Prepared & { released: number; exchanged: number }>;
  /** Submits and answers the id. */
  submit(caller: Caller, fields?: Record<string, unknown>): Promise<ActivationId>;
  show(caller: Caller, id: string): Promise<Record<string, unknown>>;
  /** Kinds and data of the events about a request, in order. */
  events(id: string): Promise<{ kind: string; environment: string; data: Record<string, unknown> }[]>;
}

interface Options {
  start?: string;
  /** The adapter of both seeded carriers. */
  adapter?: CarrierAdapter;
}

/** A platform whose activation worker the test drives. */
export async function startActivationPlatform({ start, adapter }: Options = {}): Promise<ActivationPlatform> {
  const platform = await startPlatform(start === undefined ? {} : { start });
  const { store, clock } = platform;
  if (adapter !== undefined) await useAdapter(store, adapter);
  const gateway = createCarrierGateway({ now: clock.now, publicUrl: platform.url });
  onTestFinished(() => gateway.close());
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  return {
    ...platform,
    async work() {
      const { signal } = new AbortController();
      const released = await releaseByCalendar(store, signal);
      const prepared = await prepareExchanges(store, signal);
      return { released, ...prepared, exchanged: await settled(createExchanges({ store, gateway, log })) };
    },
    async submit(caller, fields = {}) {
      const { status, body } = await caller.send("POST", ACTIVATIONS, request(fields));
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.id;
    },
    async show(caller, id) {
      const { status, body } = await caller.get(`${ACTIVATIONS}/${id}`);
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body;
    },
    events: (id) => store.read(eventsAbout, id),
  };
}

/** Sets both seeded carriers to an adapter that needs no address. */
export async function useAdapter(store: Store, adapter: CarrierAdapter): Promise<void> {
  for (const prefix of ["896103", "58"]) {
    await store.write(setCarrier, { prefix, settings: { adapter }, actor: "test" });
  }
}

async function eventsAbout(q: Read, id: string) {
  return (await openedEvents(q, null))
    .filter((row) => row.subject_id === id)
    .map(({ kind, environment, data }) => ({ kind, environment, data }));
}
