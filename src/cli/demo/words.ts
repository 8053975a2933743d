import { DEMO_PARTNER, type DemoCredential } from "./content.ts";

/** A product that the sample stock holds. */
const PRODUCT = "ES-EU-5GB-30D";

/** The demo partner, its credentials and three commands to try on the daemon at `url`, for a person. */
export function demoWords(credentials: readonly DemoCredential[], url: string, esimctl: string): string {
  const rows = credentials.flatMap(({ environment, client_id, client_secret }) => [
    `  ${environment.padEnd(10)}  client_id      ${client_id}`,
    `  ${" ".repeat(10)}  client_secret  ${client_secret}`,
  ]);
  const sandbox = credentials.find(({ environment }) => environment === "sandbox");
  const client = `-d client_id=${sandbox?.client_id} -d client_secret=${sandbox?.client_secret}`;
  const form = `-d grant_type=client_credentials ${client}`;
  return [
    `Demo partner "${DEMO_PARTNER}" and its credentials:`,
    "",
    ...rows,
    "",
    "Three commands to try, in another terminal:",
    "",
    `  TOKEN=$(curl -s ${url}/api/v1/oauth/token ${form} | cut -d '"' -f 4); echo $TOKEN`,
    `  curl -s "${url}/api/v1/products?region=Europe&limit=3" -H "Authorization: Bearer $TOKEN"`,
    `  ${esimctl} orders create --partner ${DEMO_PARTNER} --product ${PRODUCT} --quantity 1`,
    "",
  ].join("\n");
}
