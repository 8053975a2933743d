import { plainMoment } from "./airalo-answers.ts";
import { allowanceOf, titleOf } from "./airalo-catalog.ts";
import type { AiraloOrder, AiraloSim } from "./airalo-memory.ts";

const SMDP_ADDRESS = "rsp.airalo-double.example";

/** Personal data of the account, which the provider puts into orders; made up here. */
const user = {
  id: 120,
  created_at: "2024-02-20 08:41:57",
  name: "Petra Partner",
  email: "petra.partner@reseller.example",
  mobile: "+61491570006",
  address: "12 Example Street",
  state: null,
  city: "Sydney",
  postal_code: "2000",
  country_id: 13,
  company: "Example Travel Pty Ltd",
};

/** The code that people know an order by: its day and its number. */
export function orderCode({ id, created_at }: AiraloOrder): string {
  return `${plainMoment(created_at).slice(0, 10).replaceAll("-", "")}-${String(id).padStart(6, "0")}`;
}

/** What of an order is the same in every answer. */
function orderFacts(order: AiraloOrder) {
  const { id, created_at, bought, description } = order;
  const { offer } = bought;
  const where = `<p><b>eSIM name:</b> ${offer.title}</p><p><b>Coverage:</b> ${offer.place.title}</p>`;
  return {
    id,
    code: orderCode(order),
    currency: "USD",
    package_id: bought.id,
    type: bought.type,
    description,
    esim_type: "Prepaid",
    package: `${offer.title}-${titleOf(bought)}`,
    data: allowanceOf(bought),
    created_at: plainMoment(created_at),
    manual_installation: `${where}<p>Enter the SM-DP+ address and the activation code.</p>`,
    qrcode_installation: `${where}<p>Scan the QR code.</p>`,
    installation_guides: { en: "https://www.airalo.example/help/getting-started" },
  };
}

/** An order as it is answered when it is made. Numbers are numbers here. */
export function madeOrder(order: AiraloOrder) {
  const { bought, quantity, sims } = order;
  return {
    ...orderFacts(order),
    quantity,
    validity: bought.days,
    price: bought.price / 100,
    net_price: bought.net / 100,
    pricing_model: "net_pricing",
    text: bought.text,
    voice: bought.voice,
    ...(bought.type === "sim" ? { brand_settings_name: null, sims: sims.map(simBody) } : {}),
  };
}

/** What else than its own facts an order is asked for. */
export type OrderInclude = "sims" | "user" | "status";

/** An order as lists and look-ups have it. Price and validity are texts here. */
export function listedOrder(order: AiraloOrder, include: ReadonlySet<OrderInclude>) {
  const { bought, units, sims } = order;
  return {
    ...orderFacts(order),
    quantity: units,
    validity: String(bought.days),
    price: (bought.price / 100).toFixed(2),
    ...(include.has("sims") ? { sims: bought.type === "sim" ? sims.map(simBody) : [] } : {}),
    ...(include.has("user") ? { user } : {}),
    ...(include.has("status") ? { status: { name: "Completed", slug: "completed" } } : {}),
  };
}

/** An eSIM with what installs it. */
export function simBody(sim: AiraloSim) {
  const { offer } = sim.order.bought;
  // The code's fifth part has the phone ask for the confirmation code (SGP.22).
  const flag = sim.confirmation_code === null ? "" : "$$1";
  const qrcode = `LPA:1$${SMDP_ADDRESS}$${sim.matching_id}${flag}`;
  const apn_type = offer.apn === null ? "automatic" : "manual";
  return {
    id: sim.id,
    created_at: plainMoment(sim.created_at),
    iccid: sim.iccid,
    lpa: SMDP_ADDRESS,
    imsis: null,
    matching_id: sim.matching_id,
    confirmation_code: sim.confirmation_code,
    qrcode,
    qrcode_url: `https://www.airalo.example/qr?expires=${Math.floor(sim.created_at / 1000) + 86_400}&id=${sim.id}`,
    direct_apple_installation_url: `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${qrcode}`,
    airalo_code: null,
    apn_type,
    apn_value: offer.apn,
    apn: { ios: { apn_type: "automatic", apn_value: offer.apn }, android: { apn_type, apn_value: offer.apn } },
    is_roaming: true,
    msisdn: sim.order.bought.voice === null ? null : `8831906${String(sim.id).slice(-8).padStart(8, "0")}`,
  };
}
