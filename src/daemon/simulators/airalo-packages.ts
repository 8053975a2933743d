import { invalid } from "./airalo-answers.ts";
import {
  type AiraloPackage,
  airaloCatalog,
  allowanceOf,
  type OfferedPackages,
  titleOf,
  topupsFor,
} from "./airalo-catalog.ts";
import type { AiraloMemory } from "./airalo-memory.ts";
import type { AiraloOffer } from "./airalo-offers.ts";
import { type PageAsked, pageOf, readPage } from "./airalo-pages.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

/** What a dollar is in other currencies. */
const rates = { USD: 1, EUR: 0.92, GBP: 0.79, AUD: 1.52, CAD: 1.37, AED: 3.67, SGD: 1.35, JPY: 156 };

/** The same for every answer that has prices. */
export const airaloPricing = { model: "net_pricing", discount_percentage: 0 };

/** `GET /packages`: by destination and operator. */
export function listPackages(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const { query } = request;
  const asked = readPackagesQuery(query);
  if ("fault" in asked) return asked.fault;
  const country = query.get("filter[country]")?.toUpperCase() || null;
  const type = query.get("filter[type]") || null;
  const withTopups = query.get("include") === "topup";
  const shown = airaloCatalog
    .filter(({ offer }) => type === null || offer.type === type)
    .filter(({ offer }) => country === null || country in offer.coverage)
    // What is sold out goes from the list.
    .map((one) => ({ ...one, sims: one.sims.filter(({ id }) => memory.stock.get(id) !== 0) }))
    .filter(({ sims }) => sims.length > 0)
    .map((one) => destination(one, withTopups));
  const { data, ...rest } = pageOf(shown, asked.page ?? { page: 1, limit: Math.max(shown.length, 1) }, request);
  // From the second page on the body has another form.
  const { page } = asked.page ?? { page: 1 };
  const from = rest.meta.from ?? 1;
  const body = page > 1 ? Object.fromEntries(data.map((one, at) => [String(from - 1 + at), one])) : data;
  return { status: 200, body: { pricing: airaloPricing, data: body, ...rest } };
}

function readPackagesQuery(query: URLSearchParams): { page: PageAsked | null } | { fault: ProviderAnswer } {
  const type = query.get("filter[type]") || null;
  if (type !== null && type !== "local" && type !== "global") {
    return { fault: invalid({ "filter.type": "The selected filter.type is invalid." }) };
  }
  const country = query.get("filter[country]") || null;
  if (country !== null && !/^[A-Za-z]{2}$/.test(country)) {
    return { fault: invalid({ "filter.country": "The selected filter.country is invalid." }) };
  }
  const include = query.get("include") || null;
  if (include !== null && include !== "topup")
    return { fault: invalid({ include: "The selected include is invalid." }) };
  if (!query.get("limit") && !query.get("page")) return { page: null };
  return readPage(query);
}

function destination({ offer, sims, topups }: OfferedPackages, withTopups: boolean) {
  const cheapest = (of: "net" | "price") => Math.min(...sims.map((one) => one[of]));
  return {
    slug: offer.place.slug,
    country_code: offer.place.country_code,
    title: offer.place.title,
    image: image(offer.place.slug),
    min_price: { net_price: inCurrencies(cheapest("net")), recommended_retail_price: inCurrencies(cheapest("price")) },
    operators: [
      { ...operatorBody(offer), packages: [...sims, ...(withTopups ? topups : [])].map((one) => listedPackage(one)) },
    ],
  };
}

function operatorBody(offer: AiraloOffer) {
  const apn_type = offer.apn === null ? "automatic" : "manual";
  return {
    id: offer.id,
    style: "light",
    title: offer.title,
    type: offer.type,
    is_prepaid: false,
    is_roaming: true,
    esim_type: "Prepaid",
    plan_type: offer.packages.some(({ calls }) => calls !== undefined) ? "voice-text" : "data",
    activation_policy: "first-usage",
    is_kyc_verify: false,
    rechargeability: offer.rechargeable,
    install_window_days: 365,
    topup_grace_window_days: offer.rechargeable ? 30 : null,
    apn_type,
    apn_value: offer.apn,
    apn: {
      ios: { apn_type: "automatic", apn_value: offer.apn },
      android: { apn_type, apn_value: offer.apn },
    },
    info: [`${offer.generations.join("/")} from ${offer.title}.`, "Data only unless the package says otherwise."],
    other_info: "This eSIM doesn't come with a phone number.",
    warning: null,
    image: image(offer.slug),
    countries: Object.keys(offer.coverage).map((code) => ({ country_code: code, title: code, image: image(code) })),
    coverages: Object.entries(offer.coverage).map(([code, name]) => ({
      name: code,
      code,
      networks: [{ name, types: [...offer.generations] }],
    })),
  };
}

/** A package as lists have it. */
function listedPackage(one: AiraloPackage) {
  const unlimited = one.amount === null;
  return {
    ...packageFacts(one),
    voice: one.voice,
    text: one.text,
    short_info: one.voice === null ? "This eSIM doesn't come with a phone number." : null,
    qr_installation: "<p>Scan the QR code.</p>",
    manual_installation: "<p>Enter the SM-DP+ address and the activation code.</p>",
    is_fair_usage_policy: unlimited,
    fair_usage_policy: unlimited ? "Lower speed rate of 1 Mbps after 3 GB usage per day." : null,
    prices: { net_price: inCurrencies(one.net), recommended_retail_price: inCurrencies(one.price) },
  };
}

/** The fields of a package that every answer has: unlimited ones say 0 megabytes. */
export function packageFacts(one: AiraloPackage) {
  return {
    id: one.id,
    type: one.type,
    price: one.price / 100,
    net_price: one.net / 100,
    amount: one.amount ?? 0,
    day: one.days,
    is_unlimited: one.amount === null,
    title: titleOf(one),
    data: allowanceOf(one),
    short_info: null,
  };
}

/** `GET /sims/{iccid}/topups`: what fits an eSIM of `bought`. */
export function topupList(bought: AiraloPackage): ProviderAnswer {
  const data = topupsFor(bought).map(listedPackage);
  return { status: 200, body: data.length === 0 ? { data } : { pricing: airaloPricing, data } };
}

function inCurrencies(cents: number): Record<string, number> {
  const amounts = Object.entries(rates).map(([code, rate]): [string, number] => {
    const decimals = code === "JPY" ? 1 : 100;
    return [code, Math.round((cents / 100) * rate * decimals) / decimals];
  });
  return Object.fromEntries(amounts);
}

function image(name: string) {
  return { width: 132, height: 99, url: `https://cdn.airalo.example/images/${name.toLowerCase()}.png` };
}
