import { type AiraloOffer, airaloOffers } from "./airalo-offers.ts";

/** What can be bought: an eSIM, or more for one. Money in cents of USD. */
export interface AiraloPackage {
  id: string;
  type: "sim" | "topup";
  offer: AiraloOffer;
  /** Megabytes; null: unlimited. */
  amount: number | null;
  days: number;
  /** The retail price, a minimum for those who sell on. */
  price: number;
  /** The cost. */
  net: number;
  voice: number | null;
  text: number | null;
  /** How many there are at the start; null: always enough. */
  stock: number | null;
}

/** Megabytes of a gigabyte, as the provider counts. */
const GIGABYTE = 1024;

function packagesOf(offer: AiraloOffer, type: AiraloPackage["type"]): AiraloPackage[] {
  if (type === "topup" && !offer.rechargeable) return [];
  return offer.packages.map(({ days, gb, price, net, calls = null, stock = null }) => ({
    id: `${offer.slug}-${gb === null ? "unlimited-" : ""}${days}days${gb === null ? "" : `-${gb}gb`}${suffix[type]}`,
    type,
    offer,
    amount: gb === null ? null : gb * GIGABYTE,
    days,
    price,
    net,
    voice: calls,
    text: calls,
    stock: type === "sim" ? stock : null,
  }));
}

const suffix = { sim: "", topup: "-topup" };

/** An operator's packages: those with an eSIM first, then the ones that top it up. */
export interface OfferedPackages {
  offer: AiraloOffer;
  sims: AiraloPackage[];
  topups: AiraloPackage[];
}

/** All that is on offer, by operator. */
export const airaloCatalog: readonly OfferedPackages[] = airaloOffers.map((offer) => ({
  offer,
  sims: packagesOf(offer, "sim"),
  topups: packagesOf(offer, "topup"),
}));

const byId = new Map(airaloCatalog.flatMap(({ sims, topups }) => [...sims, ...topups]).map((one) => [one.id, one]));

/** The package of a kind with this id; null: there is none. */
export function airaloPackage(id: string, type: AiraloPackage["type"]): AiraloPackage | null {
  const found = byId.get(id);
  return found?.type === type ? found : null;
}

/** The packages that top up an eSIM of `bought`. */
export function topupsFor(bought: AiraloPackage): AiraloPackage[] {
  return airaloCatalog.find(({ offer }) => offer === bought.offer)?.topups ?? [];
}

/** Allowance in words, e.g. "1 GB". */
export function allowanceOf({ amount }: AiraloPackage): string {
  return amount === null ? "Unlimited" : `${amount / GIGABYTE} GB`;
}

/** Title of a package, e.g. "1 GB - 7 Days". */
export function titleOf(one: AiraloPackage): string {
  const calls = one.voice === null ? [] : [`${one.text} SMS`, `${one.voice} Mins`];
  return [allowanceOf(one), ...calls, `${one.days} Days`].join(" - ");
}

/** The sandbox's own packages and the refusal that each one forces; no list has them. */
export const forcedRefusals = {
  "test-insufficient-balance-7days-1gb": 11,
  "test-maintenance-mode-7days-1gb": 13,
  "test-disabled-top-up-7days-1gb": 23,
  "test-not-enough-7days-1gb": 33,
  "test-out-of-stock-7days-1gb": 34,
} as const;
