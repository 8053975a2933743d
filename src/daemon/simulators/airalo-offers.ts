/** A made-up network operator, where its eSIMs work, and what it sells. */
export interface AiraloOffer {
  id: number;
  /** First part of the ids of its packages. */
  slug: string;
  title: string;
  type: "local" | "global";
  /** The destination that lists it: a country, or a region without a code. */
  place: { slug: string; title: string; country_code: string };
  /** Alpha-2 codes with the network of each. */
  coverage: Readonly<Record<string, string>>;
  generations: readonly string[];
  rechargeable: boolean;
  /** Whether its eSIMs ask for a confirmation code. */
  confirms: boolean;
  apn: string | null;
  packages: readonly OfferedPackage[];
}

/** An allowance for a time. Money in cents of USD. */
interface OfferedPackage {
  days: number;
  /** null: unlimited. */
  gb: number | null;
  price: number;
  net: number;
  /** As many minutes as messages; left out: none of them. */
  calls?: number;
  /** How many eSIMs there are; left out: always enough. */
  stock?: number;
}

const plain = { generations: ["LTE"], rechargeable: true, confirms: false, apn: null };

function local(country_code: string, slug: string, title: string) {
  return (id: number, operator: string, network: string, packages: OfferedPackage[]): AiraloOffer => {
    const place = { slug, title, country_code };
    return {
      ...plain,
      id,
      slug: operator,
      title: network,
      type: "local",
      place,
      coverage: { [country_code]: network },
      packages,
    };
  };
}

function region(slug: string, title: string, coverage: AiraloOffer["coverage"]) {
  return (id: number, operator: string, name: string, packages: OfferedPackage[]): AiraloOffer => {
    const place = { slug, title, country_code: "" };
    return { ...plain, id, slug: operator, title: name, type: "global", place, coverage, packages };
  };
}

const europe = { FR: "Hexagone", DE: "Rheinfunk", IT: "Stella", ES: "Sol Movil", GB: "Albion Air", PT: "Tejo" };
const asia = { JP: "Hinode", TH: "Lotus", KR: "Hangang", SG: "Merlion", MY: "Melati" };

/** All operators. Iceland's larger package is scarce, Turkey's cannot be topped up, Thailand's ask for a code. */
export const airaloOffers: readonly AiraloOffer[] = [
  {
    ...local("JP", "japan", "Japan")(701, "hinode", "Hinode", [
      { days: 7, gb: 1, price: 450, net: 360 },
      { days: 30, gb: 3, price: 1050, net: 840 },
      { days: 7, gb: null, price: 2700, net: 2165 },
    ]),
    generations: ["LTE", "5G"],
  },
  {
    ...local("US", "united-states", "United States")(702, "prairie-mobile", "Prairie Mobile", [
      { days: 7, gb: 1, price: 400, net: 315 },
      { days: 30, gb: 10, price: 2300, net: 1805 },
    ]),
    apn: "prairie",
  },
  local("GB", "united-kingdom", "United Kingdom")(703, "albion-air", "Albion Air", [
    { days: 15, gb: 2, price: 750, net: 589 },
    { days: 30, gb: 10, price: 2250, net: 1780, calls: 100 },
  ]),
  local("FR", "france", "France")(704, "hexagone", "Hexagone", [
    { days: 7, gb: 1, price: 450, net: 355 },
    { days: 30, gb: 5, price: 1300, net: 1020 },
  ]),
  {
    ...local("TR", "turkey", "Turkey")(705, "bosporus", "Bosporus", [{ days: 7, gb: 1, price: 400, net: 299 }]),
    rechargeable: false,
  },
  {
    ...local("TH", "thailand", "Thailand")(706, "lotus", "Lotus", [{ days: 10, gb: 50, price: 990, net: 742 }]),
    confirms: true,
    generations: ["LTE", "5G"],
  },
  local("IS", "iceland", "Iceland")(707, "geysir", "Geysir", [
    { days: 7, gb: 1, price: 450, net: 351 },
    { days: 30, gb: 20, price: 3600, net: 2850, stock: 9 },
  ]),
  {
    ...region("europe", "Europe", europe)(708, "continental", "Continental", [
      { days: 7, gb: 1, price: 500, net: 390 },
      { days: 30, gb: 10, price: 3700, net: 2886 },
    ]),
    generations: ["LTE", "5G"],
  },
  region("asia", "Asia", asia)(709, "silkway", "Silkway", [
    { days: 7, gb: 1, price: 500, net: 395 },
    { days: 30, gb: 5, price: 2000, net: 1580 },
  ]),
];
