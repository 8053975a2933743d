import { DEMO_PARTNER, type DemoCredential } from "./content.ts";
import { codeAt, type DemoUser } from "./people.ts";

/** A product that the sample stock holds. */
const PRODUCT = "ES-EU-5GB-30D";

interface Demo {
  credentials: readonly DemoCredential[];
  /** Client ids whose secret is invalid by now. */
  refused: readonly string[];
  users: readonly DemoUser[];
}

/** The demo partner, its credentials and three commands to try on the daemon at `url`, for a person. */
export function demoWords(
  { credentials, refused, users }: Demo,
  { url, esimctl, pages, now }: { url: string; esimctl: string; pages: boolean; now: number },
): string {
  const rows = credentials.flatMap(({ environment, client_id, client_secret }) => [
    `  ${environment.padEnd(10)}  client_id      ${client_id}`,
    `  ${" ".repeat(10)}  client_secret  ${refused.includes(client_id) ? "rotated or revoked since" : client_secret}`,
  ]);
  const replacement = `  ${esimctl} credentials create --partner ${DEMO_PARTNER}    # or with --live: another one`;
  const sandbox = credentials.find(({ client_id, environment }) => {
    return environment === "sandbox" && !refused.includes(client_id);
  });
  return [
    ...(pages ? signIns(users, url, now) : []),
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

/** Where the pages are, and how to sign in to them. */
export function signIns(users: readonly DemoUser[], url: string, now: number): string[] {
  const rows = users.flatMap(({ face, email, password, totp }) => [
    `  ${`${url}/${face}`}`,
    `    e-mail ${email}   password ${password}`,
    ...(totp === null
      ? []
      : [`    code   ${codeAt(totp, now)} now; later ones from an authenticator app with ${totp}`]),
  ]);
  return ["Portal for partners and console for staff; open one in a browser and sign in:", "", ...rows, ""];
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
