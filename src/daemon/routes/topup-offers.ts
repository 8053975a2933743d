import { LRUCache } from "lru-cache";
import type { Row } from "../../core/store/schema/tables.ts";
import type { SupplierContact } from "../../core/suppliers/supplier.ts";
import type { EsimRef, Plan } from "../../core/supply/provider.ts";
import type { Offer } from "../../core/topups/choose.ts";
import type { NewTopup } from "../../core/topups/create.ts";
import { askBefore, type Candidate, type Fitting, type ToAsk } from "../../core/topups/fitting.ts";
import { offerTopups, productsOffered } from "../../core/topups/offers.ts";
import type { DaemonContext } from "../context/context.ts";
import type { Provider } from "../gateways/suppliers/provider.ts";
import type { Providers } from "../gateways/suppliers/providers.ts";

/** What suppliers say of top-ups, asked as a partner asks. */
export interface TopupOffers {
  /** The products for an eSIM, cheapest first. Throws `supplier_unreachable`. */
  products(fitting: Fitting): Promise<Row<"products">[]>;
  /** What the supplier of a top-up says of it before it is charged; null: it is not asked. Throws the same. */
  offer(asked: NewTopup): Promise<Offer | null>;
}

/** For how long an answer serves for what is bought after it (ms): who lists top-ups chooses one next. */
const ANSWER_FOR_MS = 60_000;
const ANSWERS = 1_000;

interface Answer {
  at: number;
  plans: Promise<Plan[] | null>;
}

const shared = new WeakMap<object, TopupOffers>();

/** Those of a daemon: its routes and its pages share what suppliers answered. */
export function topupOffersOf(context: Pick<DaemonContext, "store" | "clock">): TopupOffers {
  const offers = shared.get(context) ?? createTopupOffers(context);
  shared.set(context, offers);
  return offers;
}

/** Asks suppliers, and keeps what they answer for a minute. */
function createTopupOffers(context: Pick<DaemonContext, "store" | "clock">): TopupOffers {
  const { store, clock } = context;
  const answers = new LRUCache<string, Answer>({ max: ANSWERS });
  const made = once(() => providersOf(context));

  function ask(provider: Provider, { contact, esim }: ToAsk): Promise<Plan[] | null> {
    const key = nameOf(contact, esim);
    const plans = provider.topupPlans(esim);
    answers.set(key, { at: clock.now(), plans });
    // Who waits for it gets the fault; the next one asks again.
    plans.catch(() => answers.delete(key));
    return plans;
  }

  function known(toAsk: ToAsk): Promise<Plan[] | null> | null {
    const answer = answers.get(nameOf(toAsk.contact, toAsk.esim));
    return answer !== undefined && clock.now() - answer.at < ANSWER_FOR_MS ? answer.plans : null;
  }

  return {
    async products(fitting) {
      if ("products" in fitting) return fitting.products;
      const provider = (await made()).of(fitting.contact);
      if (provider === null) return [];
      const plans = await ask(provider, fitting);
      if (plans === null) return fittingOnes(provider, fitting);
      const offered = { supplier: fitting.contact.name, orderId: fitting.orderId, plans };
      return (await store.read(productsOffered, offered)) ?? (await store.write(offerTopups, offered));
    },
    async offer(asked) {
      const toAsk = await store.read(askBefore, asked);
      const provider = toAsk && (await made()).of(toAsk.contact);
      if (toAsk === null || provider === null) return null;
      const supplier = toAsk.contact.name;
      const plans = await (known(toAsk) ?? ask(provider, toAsk));
      return plans === null ? { supplier, fits: await provider.fits(toAsk.esim, toAsk.plan) } : { supplier, plans };
    },
  };
}

function nameOf({ name }: SupplierContact, { iccid, reference }: EsimRef): string {
  return JSON.stringify([name, iccid, reference]);
}

async function fittingOnes(
  provider: Provider,
  { esim, candidates }: { esim: EsimRef; candidates: readonly Candidate[] },
): Promise<Row<"products">[]> {
  const fitting: Row<"products">[] = [];
  // One after the other: the supplier's limits are few a second.
  for (const { product, plan } of candidates) if (await provider.fits(esim, plan)) fitting.push(product);
  return fitting.sort((a, b) => a.price_cents - b.price_cents || (a.sku < b.sku ? -1 : 1));
}

/** Loaded when the first supplier is asked: terminal commands of eSIMs need none of it. */
async function providersOf({ store, clock }: Pick<DaemonContext, "store" | "clock">): Promise<Providers> {
  const { createProviders } = await import("../gateways/suppliers/providers.ts");
  return createProviders({ store, now: clock.now });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
