/** A package as the catalog lists it; amounts in 1/10,000 USD, volumes in bytes. */
export interface EaPackage {
  packageCode: string;
  slug: string;
  name: string;
  price: number;
  currencyCode: string;
  /** A day's, where `dataType` is 2. */
  volume: number;
  smsStatus: number;
  /** 1: in all; 2: a day. */
  dataType: 1 | 2;
  unusedValidTime: number;
  duration: number;
  durationUnit: string;
  /** ISO codes between commas. */
  location: string;
  locationCode: string;
  description: string;
  activeType: number;
  favorite: boolean;
  retailPrice: number;
  speed: string;
  ipExport: string;
  supportTopUpType: number;
  fupPolicy: string;
  locationNetworkList: EaLocationNetworks[];
}

interface EaLocationNetworks {
  locationName: string;
  locationLogo: string;
  locationCode: string;
  operatorList: { operatorName: string; networkType: string }[];
}

interface EaLocation {
  code: string;
  name: string;
  /** 1: a country, 2: a region. */
  type: 1 | 2;
  subLocation: { code: string; name: string }[] | null;
}

const MEGABYTE = 1_048_576;

const countries: Readonly<Record<string, { name: string; operators: readonly string[] }>> = {
  AU: { name: "Australia", operators: ["Optus", "Telstra"] },
  DE: { name: "Germany", operators: ["O2", "Vodafone"] },
  ES: { name: "Spain", operators: ["Movistar", "Orange"] },
  FR: { name: "France", operators: ["Bouygues", "Orange"] },
  GB: { name: "United Kingdom", operators: ["O2", "Three"] },
  IT: { name: "Italy", operators: ["TIM", "Wind Tre"] },
  JP: { name: "Japan", operators: ["KDDI", "SoftBank"] },
  KR: { name: "South Korea", operators: ["LG U+", "SK Telecom"] },
  SG: { name: "Singapore", operators: ["Singtel", "StarHub"] },
  TH: { name: "Thailand", operators: ["AIS", "TrueMove H"] },
  TR: { name: "Turkey", operators: ["Turkcell", "Vodafone"] },
  US: { name: "United States", operators: ["AT&T", "T-Mobile"] },
};

const regions: Readonly<Record<string, { name: string; of: readonly string[] }>> = {
  "AS-5": { name: "Asia (5 areas)", of: ["JP", "KR", "SG", "TH", "AU"] },
  "EU-6": { name: "Europe (6 areas)", of: ["DE", "ES", "FR", "GB", "IT", "TR"] },
  "GL-12": { name: "Global (12 areas)", of: Object.keys(countries) },
};

/** Code, location, megabytes (a day's for a daily plan), days, price (1/10,000 USD), and what is unusual. */
type Listed = readonly [code: string, at: string, megabytes: number, days: number, price: number, Unusual?];

interface Unusual {
  daily?: true;
  noTopUp?: true;
  speed?: string;
}

const listed: readonly Listed[] = [
  ["CJP101", "JP", 1_024, 7, 7_000],
  ["CJP103", "JP", 3_072, 15, 17_500],
  ["CJP110", "JP", 10_240, 30, 52_000],
  ["DJP1", "JP", 1_024, 1, 6_500, { daily: true }],
  ["CKR101", "KR", 1_024, 7, 6_200],
  ["CTH105", "TH", 5_120, 15, 21_000],
  ["CUS101", "US", 1_024, 7, 9_800],
  ["CUS110", "US", 10_240, 30, 74_500],
  ["CGB103", "GB", 3_072, 30, 15_600, { noTopUp: true }],
  ["CDE101", "DE", 1_024, 7, 6_100],
  ["CTR100", "TR", 100, 7, 1_843, { speed: "3G/4G" }],
  ["RAS501", "AS-5", 1_024, 7, 11_000],
  ["REU601", "EU-6", 1_024, 7, 9_000],
  ["REU610", "EU-6", 10_240, 30, 61_000],
  ["RGL101", "GL-12", 1_024, 7, 28_000],
];

/** What is sold new, of type BASE. */
export const basePackages: readonly EaPackage[] = listed.map((one) => packageOf(one));

/** What is bought for an eSIM that there is, of type TOPUP. */
export const topupPackages: readonly EaPackage[] = basePackages
  .filter(({ supportTopUpType }) => supportTopUpType !== 1)
  .map((one) => ({ ...one, packageCode: `TOPUP_${one.packageCode}` }));

/** Countries and regions, as the catalog names them. */
export const eaLocations: readonly EaLocation[] = [
  ...Object.entries(countries).map(([code, { name }]): EaLocation => ({ code, name, type: 1, subLocation: null })),
  ...Object.entries(regions).map(([code, { name, of }]): EaLocation => {
    return { code, name, type: 2, subLocation: of.map((one) => ({ code: one, name: countries[one]?.name ?? one })) };
  }),
];

/** The package of `packages` with this code; a slug is an alias of it. */
export function packageNamed(packages: readonly EaPackage[], code: string): EaPackage | undefined {
  return packages.find(({ packageCode, slug }) => packageCode === code || slug === code);
}

function packageOf([code, at, megabytes, days, price, unusual = {}]: Listed): EaPackage {
  const { daily = false, noTopUp = false, speed = "3G/4G/5G" } = unusual;
  const gigabytes = megabytes < 1_024 ? `${megabytes}MB` : `${megabytes / 1_024}GB`;
  const place = countries[at]?.name ?? regions[at]?.name ?? at;
  const name = daily ? `${place} ${gigabytes}/Day` : `${place} ${gigabytes} ${days}Days`;
  const covered = regions[at]?.of ?? [at];
  return {
    packageCode: code,
    slug: `${at}_${megabytes < 1_024 ? (megabytes / 1_000).toFixed(1) : megabytes / 1_024}_${daily ? "Daily" : days}`,
    name,
    price,
    currencyCode: "USD",
    volume: megabytes * MEGABYTE,
    smsStatus: 0,
    dataType: daily ? 2 : 1,
    unusedValidTime: 180,
    duration: days,
    durationUnit: "DAY",
    location: covered.join(","),
    locationCode: at,
    description: name,
    activeType: 2,
    favorite: true,
    retailPrice: price * 2,
    speed,
    ipExport: "NL/FR",
    supportTopUpType: topUpTypeOf(daily, noTopUp),
    fupPolicy: daily ? "1 Mbps" : "",
    locationNetworkList: covered.map(networksOf),
  };
}

/** 1: none, 2: yes, 3: yes, with a number of days. */
function topUpTypeOf(daily: boolean, noTopUp: boolean): number {
  if (noTopUp) return 1;
  return daily ? 3 : 2;
}

function networksOf(code: string): EaLocationNetworks {
  const { name = code, operators = [] } = countries[code] ?? {};
  return {
    locationName: name,
    locationLogo: `/img/flags/${code.toLowerCase()}.png`,
    locationCode: code,
    operatorList: operators.map((operatorName) => ({ operatorName, networkType: "5G" })),
  };
}
