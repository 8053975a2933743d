import { onDatabase, refuseConnections } from "./database.ts";
import { type Caller, call, type Platform, type Reply, startPlatform } from "./platform.ts";

/** What a scenario is given. */
export interface Stage {
  platform: Platform;
  operation: { id: string; method: string; path: string; scope: string | null; hasBody: boolean };
  products: Record<string, string>;
}

/** Makes an operation answer with one of its statuses, for real. */
export type Scenario = (stage: Stage) => Promise<Reply>;

const ALL = ["read:products", "read:orders", "write:orders", "read:esims", "read:webhooks", "write:webhooks"];

/** The path with ids that nothing has. */
export function unknownPath(path: string): string {
  const values: Record<string, string> = { iccid: "8944100000000000998", prefix: "896103", name: "nobody" };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? crypto.randomUUID());
}

/** Headers that every request of the operation may carry. */
export const key = () => ({ "idempotency-key": crypto.randomUUID() });

/** A caller who may use everything: agent record, production access. */
export function anyone(platform: Platform, more: { live?: boolean; scopes?: string[] } = {}): Promise<Caller> {
  return platform.caller({ agent: true, ...more });
}

/** Conditions that apply to any operation in the same way. */
export const genericScenarios: Readonly<Record<number, Scenario>> = {
  200: async ({ platform, operation }) => (await anyone(platform)).get(operation.path),

  400: async ({ platform, operation: { method, path, hasBody } }) => {
    const caller = await anyone(platform);
    const broken = path.replaceAll("{id}", "not-a-uuid");
    if (broken !== path) return caller.send(method, broken, hasBody ? {} : undefined);
    return hasBody ? caller.send(method, unknownPath(path), "{", key()) : caller.get(`${path}?limit=0`);
  },

  401: ({ platform, operation: { method, path } }) => call(platform.url + unknownPath(path), { method }),

  403: async ({ platform, operation: { method, path, scope } }) => {
    const caller = await anyone(platform, { scopes: ALL.filter((each) => each !== scope) });
    return caller.send(method, unknownPath(path), undefined, key());
  },

  404: async ({ platform, operation: { method, path, hasBody } }) =>
    (await anyone(platform)).send(method, unknownPath(path), hasBody ? {} : undefined),

  413: async ({ platform, operation: { method, path } }) =>
    (await anyone(platform)).send(method, unknownPath(path), { padding: "x".repeat(1024 * 1024) }, key()),

  415: async ({ platform, operation: { method, path } }) =>
    (await anyone(platform)).send(method, unknownPath(path), "<a/>", { ...key(), "content-type": "text/xml" }),

  429: async ({ operation: { method, path, scope } }) => {
    const limited = await limitedPlatform();
    const url = limited.url + unknownPath(path);
    const headers: Record<string, string> = scope === null ? {} : { authorization: `Bearer ${limited.token}` };
    return call(url, { method, headers });
  },

  500: async (stage) => callWithFault(stage, await brokenPlatform()),

  503: async (stage) => callWithFault(stage, await unavailablePlatform()),
};

function callWithFault({ operation: { method, path, scope } }: Stage, faulty: Prepared): Promise<Reply> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (scope !== null) headers.authorization = `Bearer ${faulty.token}`;
  const body = method === "GET" || method === "DELETE" ? {} : { body: faulty.body };
  return call(faulty.url + unknownPath(path), { method, headers, ...body });
}

interface Prepared {
  url: string;
  token: string;
  body: string;
}

let limited: Promise<Prepared> | null = null;

/** A platform whose limits are used up: of the caller, and of this address. */
function limitedPlatform(): Promise<Prepared> {
  limited ??= (async () => {
    const platform = await startPlatform({ rateLimits: true });
    const { token, get } = await platform.caller();
    for (let i = 0; i < 60; i++) await get("/api/v1/products");
    const anonymous = () => call(`${platform.url}/.well-known/jwks.json`);
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 31 }, anonymous));
    const exhaust = () => call(`${platform.url}/api/v1/oauth/token`, { method: "POST" });
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 31 }, exhaust));
    return { url: platform.url, token, body: "" };
  })();
  return limited;
}

let broken: Promise<Prepared> | null = null;

/** A platform whose database lost tables that every request needs one of. */
function brokenPlatform(): Promise<Prepared> {
  const lose = ["settings", "carriers", "suppliers"].map((table) => `ALTER TABLE ${table} RENAME TO lost_${table}`);
  broken ??= faultyPlatform((location) => onDatabase(location, lose.join(";")));
  return broken;
}

let unavailable: Promise<Prepared> | null = null;

/** A platform whose database refuses connections: on PostgreSQL alone. */
function unavailablePlatform(): Promise<Prepared> {
  unavailable ??= faultyPlatform((location) => {
    if ("file" in location) throw new Error("a file refuses no connections");
    return refuseConnections(location.url);
  });
  return unavailable;
}

async function faultyPlatform(spoil: (location: Platform["location"]) => Promise<void>): Promise<Prepared> {
  const platform = await startPlatform();
  const { token, clientId, clientSecret } = await platform.caller();
  await spoil(platform.location);
  const grant = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  return { url: platform.url, token, body: JSON.stringify(grant) };
}
