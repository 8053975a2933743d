import { type EsimgoCall, EsimgoRefusal } from "./esimgo-call.ts";
import { esimgoCountries } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

type Network = [name: string, brandName: string, mcc: string, mnc: string, tagid: string];

/** Networks are those of a country, whatever the bundle. */
const networks: Record<string, Network[]> = {
  GB: [
    ["EE", "EE", "234", "30", "GBRME"],
    ["Vodafone", "Vodafone UK", "234", "15", "GBRVF"],
  ],
  FR: [["Orange", "Orange France", "208", "01", "FRAF1"]],
  DE: [["Telekom", "Telekom Deutschland", "262", "01", "DEUD1"]],
  ES: [["Movistar", "Movistar Spain", "214", "07", "ESPTE"]],
  TR: [["Turkcell", "Turkcell", "286", "01", "TURTC"]],
  JP: [
    ["NTT Docomo", "docomo", "440", "10", "JPNDO"],
    ["SoftBank", "SoftBank", "440", "20", "JPNJP"],
  ],
  TH: [["AIS", "AIS", "520", "03", "THAWN"]],
  US: [["T-Mobile", "T-Mobile USA", "310", "260", "USAW6"]],
  AU: [["Telstra", "Telstra", "505", "01", "AUSTA"]],
};

/** GET /networks. */
export function listNetworks({ request }: EsimgoCall): ProviderAnswer {
  const names = listed(request.query.get("countries"));
  const isos = listed(request.query.get("isos"));
  const all = request.query.get("returnAll") === "true";
  if (!all && names.length + isos.length === 0) throw new EsimgoRefusal(400, "countries, isos or returnAll is needed");
  const asked = esimgoCountries.filter(({ name, iso }) => all || names.includes(name) || isos.includes(iso));
  const countryNetworks = asked.map(({ name, iso }) => ({ name, networks: networksOf(iso) }));
  return { status: 200, body: { countryNetworks } };
}

/** The networks of a country in the words of bodies. */
export function networksOf(iso: string) {
  return (networks[iso] ?? []).map(([name, brandName, mcc, mnc, tagid]) => {
    return { name, brandName, mcc, mnc, tagid, speed: ["4G", "5G"] };
  });
}

function listed(text: string | null): string[] {
  return (text ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
