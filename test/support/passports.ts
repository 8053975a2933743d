import type { PassportId } from "../../src/core/kernel/brand.ts";
import type { DrawRequest } from "../../src/core/passports/draw.ts";
import { recordVerdict } from "../../src/core/passports/verdict.ts";
import type { Store } from "../../src/core/store/store.ts";
import { type Caller, startPlatform } from "./platform.ts";

let made = 0;

/** A passport record as a partner sends it; pass only what the test is about. */
export function passport(fields: Record<string, unknown> = {}) {
  made += 1;
  return {
    first_name: "Ottoline",
    last_name: `Farrowgate${made}`,
    title: "Ms",
    date_of_birth: "1975-03-13",
    passport_no: `PA${String(made).padStart(7, "0")}`,
    passport_country: "GBR",
    passport_expiry: "2034-02-14",
    address: "219 Banksia Street",
    suburb: "Newtown",
    state: "NSW",
    postcode: "2042",
    reference: `GRP-${made}`,
    ...fields,
  };
}

/** Imports records over the API; answers their ids in order. */
export async function importRecords(caller: Caller, records: unknown[]): Promise<PassportId[]> {
  const answer = await caller.send("POST", "/api/v1/kyc/passports", { records });
  if (answer.status !== 201) throw new Error(`the import answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.records.map((record: { id: PassportId }) => record.id);
}

/** Verifies passports as the operator and marks them onshore, so that they can be drawn. */
export async function makeDrawable(store: Store, ids: readonly PassportId[]): Promise<void> {
  for (const id of ids) {
    await store.write(recordVerdict, { id, verification: "verified", onshore: true, actor: "operator" });
  }
}

/** The platform with one partner that may use the pool. */
export async function withAgent() {
  const platform = await startPlatform();
  const agent = await platform.caller({ slug: "agency", agent: true });
  return { ...platform, agent };
}

/** A request that draws from an agent's sandbox pool. */
export function draws(agent: Caller, fields: Partial<DrawRequest> = {}): DrawRequest {
  return {
    partnerId: agent.partnerId,
    environment: "sandbox",
    brand: "brand-a",
    carrier: "896103",
    activationDate: "2026-04-01",
    requestId: crypto.randomUUID(),
    actor: "client:test",
    ...fields,
  };
}
