import { DEMO_PARTNER, type DemoCredential } from "./content.ts";

/** A product that the sample stock holds. */
const PRODUCT = "ES-EU-5GB-30D";

interface Demo {
  credentials: readonly DemoCredential[];
  /** Client ids whose secret is invalid by now. */
  refused: readonly string[];
}

/** The demo partner, its credentials and three commands to try on the daemon at `url`, for a person. */
export function demoWords({ credentials, refused }: Demo, url: string, esimctl: string): string {
  const rows = credentials.flatMap(({ environment, client_id, client_secret }) => [
    `  ${environment.padEnd(10)}  client_id      ${client_id}`,
    `  ${" ".repeat(10)}  client_secret  ${refused.includes(client_id) ? "rotated or revoked since" : client_secret}`,
  ]);
  const replacement = `  ${esimctl} credentials create --partner ${DEMO_PARTNER}    # or with --live: another one`;
  const sandbox = credentials.find(({ client_id, environment }) => {
    return environment === "sandbox" && !refused.includes(client_id);
  });
  return [
    `Demo partner "${DEMO_PARTNER}" and its credentials:`,
    "",
    ...rows,
    "",
    ...(refused.length === 0 ? [] : [replacement, ""]),
    ...(sandbox === undefined ? [] : [...tries(sandbox, url, esimctl), ""]),
    `The API reference is at ${url}/docs, the guides for partners at ${url}/docs/api and ${url}/docs/webhooks.`,
    "",
  ].join("\n");
}

function tries({ client_id, client_secret }: DemoCredential, url: string, esimctl: string): string[] {
  const form = `-d grant_type=client_credentials -d client_id=${client_id} -d client_secret=${client_secret}`;
  return [
    "Three commands to try, in another terminal; the last one buys in production, from the demo's wallet:",
    "",
    `  TOKEN=$(curl -s ${url}/api/v1/oauth/token ${form} | cut -d '"' -f 4); echo $TOKEN`,
    `  curl -s "${url}/api/v1/products?region=Europe&limit=3" -H "Authorization: Bearer $TOKEN"`,
    `  ${esimctl} orders create --partner ${DEMO_PARTNER} --product ${PRODUCT} --quantity 1`,
  ];
}
