/** A country as rows of the catalogue name it. */
export interface EsimgoCountry {
  name: string;
  region: string;
  iso: string;
}

/** A plan that the simulated eSIM Go sells. */
export interface EsimgoBundle {
  /** The key; its case counts. */
  name: string;
  description: string;
  group: string;
  /** What it is sold for; a region may have a code of its own here, and its countries under `roaming`. */
  countries: EsimgoCountry[];
  roaming: EsimgoCountry[];
  /** Base 10; 0 where it is unlimited. */
  megabytes: number;
  days: number;
  unlimited: boolean;
  /** In cents of USD. */
  price: number;
  /** Bundles of another operator's profile do not go on an eSIM. */
  profileName: string;
}

const fixed = "Standard Fixed";
const lite = "Standard Unlimited Lite";
const plus = "Standard Unlimited Plus";

/** The groups that the account may order from. */
export const esimgoGroups = [fixed, lite, plus];

const [britain, france, germany, spain] = [
  { name: "United Kingdom", region: "Europe", iso: "GB" },
  { name: "France", region: "Europe", iso: "FR" },
  { name: "Germany", region: "Europe", iso: "DE" },
  { name: "Spain", region: "Europe", iso: "ES" },
];
const [japan, thailand, turkey] = [
  { name: "Japan", region: "Asia", iso: "JP" },
  { name: "Thailand", region: "Asia", iso: "TH" },
  { name: "Turkey", region: "Europe", iso: "TR" },
];
const states = { name: "United States", region: "North America", iso: "US" };
const australia = { name: "Australia", region: "Oceania", iso: "AU" };

/** Every country that a bundle of the list serves. */
export const esimgoCountries = [britain, france, germany, spain, turkey, japan, thailand, states, australia];

// The pages do not show how a region's row looks: one has a code of its own, the other has its countries.
const europe = [{ name: "Europe+", region: "Europe", iso: "REUP" }];
const inEurope = [britain, france, germany, spain, turkey];
const asia = [japan, thailand];

/** Everything that is for sale. */
export const esimgoBundles: readonly EsimgoBundle[] = [
  plan("1GB", 7, "GB", [britain], 140),
  plan("5GB", 30, "GB", [britain], 485),
  plan("1GB", 7, "FR", [france], 130),
  plan("3GB", 30, "FR", [france], 320),
  plan("1GB", 7, "JP", [japan], 210),
  plan("10GB", 30, "JP", [japan], 1190, { profileName: "Profile 2" }),
  plan("1GB", 7, "US", [states], 228),
  plan("5GB", 30, "US", [states], 875),
  plan("1GB", 7, "TR", [turkey], 175),
  plan("3GB", 30, "TH", [thailand], 410),
  plan("5GB", 30, "AU", [australia], 760),
  plan("1GB", 7, "REUP", europe, 240, { roaming: inEurope }),
  plan("10GB", 30, "REUP", europe, 1430, { roaming: inEurope }),
  plan("3GB", 30, "RASI", asia, 995),
  plan("UL", 1, "TR", [turkey], 205, { group: lite, unlimited: true }),
  plan("ULP", 7, "GB", [britain], 1350, { group: plus, unlimited: true }),
];

/** A bundle by its exact name. */
export function esimgoBundle(name: string): EsimgoBundle | null {
  return esimgoBundles.find((one) => one.name === name) ?? null;
}

function plan(
  size: string,
  days: number,
  code: string,
  countries: EsimgoCountry[],
  price: number,
  other: Partial<EsimgoBundle> = {},
): EsimgoBundle {
  const label = other.unlimited === true ? (size === "UL" ? "Unlimited Lite" : "Unlimited Plus") : size;
  const places = countries.map((one) => one.name).join(" and ");
  return {
    name: `esim_${size}_${days}D_${code}_V2`,
    description: `eSIM, ${label}, ${days} ${days === 1 ? "Day" : "Days"}, ${places}, V2`,
    group: fixed,
    countries,
    roaming: [],
    megabytes: other.unlimited === true ? 0 : Number.parseInt(size, 10) * 1_000,
    days,
    unlimited: false,
    price,
    profileName: "Profile 1",
    ...other,
  };
}
