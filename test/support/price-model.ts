/** The SKUs of the catalog. */
export const skus = ["A", "B", "C", "D", "E"] as const;
/** What they begin with, in the order of the SKUs. */
export const starts = [
  { region: "Europe", price_cents: 1_000, currency: "AUD" },
  { region: "Europe", price_cents: 900, currency: "AUD" },
  { region: "Asia", price_cents: 1_100, currency: "AUD" },
  { region: "Asia", price_cents: 700, currency: "EUR" },
  { region: "World", price_cents: 5_000, currency: "JPY" },
];

/** A rule as a test knows it. */
interface Known {
  list: string;
  sku: string | null;
  region: string | null;
  cents: number | null;
  points: number | null;
  min: number;
  from: string | null;
  to: string | null;
  no: number;
}

/** What the platform should charge, by what was set alone: worked out another way than core does. */
export function priceModel() {
  const own = starts.map(({ price_cents }) => price_cents);
  const costs: ({ amount: number; currency: string } | null)[] = starts.map(() => null);
  const rules = new Map<string, Known>();
  const rates = new Map<string, { pair: string; from: string; rate: string }>();
  let no = 0;

  const rateOf = (from: string, to: string, day: string) => {
    if (from === to) return "1";
    const begun = [...rates.values()].filter((one) => one.pair === `${from} ${to}` && one.from <= day);
    return begun.sort((one, other) => (one.from < other.from ? 1 : -1))[0]?.rate ?? null;
  };

  /** By fractions: cost / 10^4 × rate / 10^4 × (10^4 + points) / 10^4 in minor units, half up. */
  const marked = (at: number, points: number, day: string) => {
    const known = costs[at];
    const { currency = "" } = starts[at] ?? {};
    const rate = known ? rateOf(known.currency, currency, day) : null;
    if (!known || rate === null) return null;
    const tenThousandths = BigInt(Math.round(Number(rate) * 10_000));
    const minor = currency === "JPY" ? 1n : 100n;
    const top = BigInt(known.amount) * tenThousandths * BigInt(10_000 + points) * minor;
    return Number((top * 2n + 10n ** 12n) / (2n * 10n ** 12n));
  };

  return {
    own,
    costs,
    rateOf,
    rates,
    put: (known: Omit<Known, "no">, key: string) => {
      const same = rules.get(key);
      const unchanged = same !== undefined && same.cents === known.cents && same.points === known.points;
      if (!unchanged) rules.set(key, { ...known, no: ++no });
    },
    price(list: string, at: number, { quantity, day }: { quantity: number; day: string }) {
      const sku = skus[at] ?? "";
      const region = starts[at]?.region.toLowerCase() ?? "";
      const holding = [...rules.values()].flatMap((one) => {
        const about = one.sku === null ? one.region === region : one.sku === sku;
        const begun = (one.from === null || one.from <= day) && (one.to === null || day < one.to);
        const cents = one.cents ?? marked(at, one.points ?? 0, day);
        return one.list === list && about && begun && one.min <= quantity && cents !== null ? [{ ...one, cents }] : [];
      });
      const rank = ({ sku: named, min, no: place }: Known) => (named === null ? 0 : 1e9) + min * 1e4 + place;
      const best = holding.sort((one, other) => rank(other) - rank(one))[0];
      return { cents: best?.cents ?? own[at] ?? 0, list: best === undefined ? null : list };
    },
  };
}

/** What a test knows of prices. */
export type PriceModel = ReturnType<typeof priceModel>;
