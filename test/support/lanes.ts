import { createCredential } from "../../src/core/credentials/create.ts";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import type { NewOrder } from "../../src/core/orders/create.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { slotOf } from "../../src/core/store/schema/lanes.ts";
import type { Store } from "../../src/core/store/store.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";

const actor = "operator (test)";

/** A partner that orders through the store. */
export interface Orderer {
  slug: string;
  partnerId: PartnerId;
  /** The client id of a production credential. */
  credential: string;
}

/** A partner with money and a credential. */
export async function addOrderer(store: Store, slug: string, cents: number): Promise<Orderer> {
  const { id: partnerId } = await store.write(createPartner, { slug, name: slug, production: true, actor });
  await store.write(creditWallet, { partnerId, amount: minorUnits(cents), currency: "AUD", actor });
  const { client_id: credential } = await store.write(createCredential, { partner: slug, live: true, actor });
  return { slug, partnerId, credential };
}

/** Partners whose orders are of so many different slots. */
export async function addOrderersOfSlots(store: Store, count: number, cents: number): Promise<Orderer[]> {
  const found = new Map<number, Orderer>();
  for (let at = 0; found.size < count; at++) {
    const one = await addOrderer(store, `slot-${at}`, cents);
    found.set(slotOf({ kind: "orders", key: one.partnerId }), one);
  }
  return [...found.values()];
}

/** A production order of one line, under a key of its own. */
export function orderOf({ partnerId, credential }: Orderer, product_id = "", quantity = 1): NewOrder {
  const value = crypto.randomUUID();
  return {
    partnerId,
    environment: "production",
    key: { space: "single", value },
    payloadHash: value,
    lines: [{ product_id, quantity }],
    metadata: {},
    activationRequests: [],
    customer: null,
    credential,
  };
}
