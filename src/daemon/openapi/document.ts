import type { FastifyContextConfig, FastifySchema, RouteOptions } from "fastify";
import { type scopes, scopesOf } from "../../core/credentials/scopes.ts";
import { type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { ConditionalHeaders } from "../schemas/common.ts";
import { OauthError, problemSchema } from "../schemas/problem.ts";
import type { Shape } from "../validation/shape.ts";
import { headers, sampleProblem } from "./components.ts";
import { exampleOf } from "./example.ts";
import { type Components, published, publishedSchema, refer } from "./published.ts";
import { webhookSection } from "./webhooks.ts";

type Json = Record<string, unknown>;

/** An operation on its way through the OpenAPI plugin, with the marks that `describeRoute` put on it. */
interface Operation extends Json {
  tags?: string[];
  responses: Record<string, { headers?: Json } & Json>;
  requestBody?: Json;
  "x-problems"?: ProblemSlug[];
  "x-counted"?: boolean;
  "x-headers"?: FastifyContextConfig["responseHeaders"];
  "x-oauth"?: boolean;
  "x-body-optional"?: boolean;
}

/** What the document says of itself, before any route. */
function documentBase({ addresses }: DaemonContext) {
  const { publicUrl, docsUrl } = addresses;
  const description =
    "Browse products, place orders paid from a prepaid wallet, fetch eSIMs, activate physical SIMs, " +
    "receive webhooks. Sandbox (sk_test_…) and production (sk_live_…) credentials share these addresses. " +
    `Read the [API guide](${publicUrl}/docs/api), [Receiving events](${publicUrl}/docs/webhooks) and ` +
    `[States](${publicUrl}/docs/states); each [type of problem](${publicUrl}/docs/errors) has a page.`;
  return {
    openapi: "3.1.0",
    info: {
      title: "Partner API",
      version: "1.0.0",
      description,
      // Proprietary, as SPDX expresses a license that is not in its list.
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
      contact: { name: "Operator of this platform", url: docsUrl },
    },
    servers: [{ url: publicUrl, description: "Sandbox and production; the credential decides" }],
    externalDocs: { description: "API guide", url: `${publicUrl}/docs/api` },
    components: { securitySchemes: securitySchemes(publicUrl) },
  };
}

/** A route's schema for the document: its security, and marks for `finishDocument`. */
function describeRoute({ config = {}, schema = {} }: RouteOptions, components: Components): Json {
  const oauth = config.errorShape === "oauth";
  // For the document alone: any text may be sent in it, and a schema of headers is checked at each request.
  const asked = config.etag === true ? { ...schema, headers: ConditionalHeaders } : schema;
  return {
    // Forms have no null.
    ...publishedSchema(asked, components, !oauth),
    security: securityOf(config),
    ...(oauth ? { "x-oauth": true, consumes: FORM_OR_JSON } : {}),
    "x-problems": problemsOf(config, schema),
    "x-counted": config.rateLimit !== "exempt",
    ...(headersOf(config) === undefined ? {} : { "x-headers": headersOf(config) }),
  };
}

function headersOf({ responseHeaders, etag }: FastifyContextConfig): Operation["x-headers"] {
  return etag === true
    ? { ...responseHeaders, 200: [...(responseHeaders?.[200] ?? []), ...CONDITIONAL], 304: CONDITIONAL }
    : responseHeaders;
}

const CONDITIONAL = ["ETag", "Cache-Control"] as const;

// The token endpoint has no scheme: generated clients would send their token as Basic once they have one.
function securityOf({ scope, signed }: FastifyContextConfig): Json[] {
  if (scope !== undefined) return [{ oauth2: [...scopesOf(scope)] }];
  return signed === true ? [{ callbackSignature: [] }] : [];
}

const FORM_OR_JSON = ["application/x-www-form-urlencoded", "application/json"];
const COUNTED = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

function headerRefs(names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function commonHeaders(operation: Operation, status: string): Json {
  const names = ["X-Request-Id", ...(operation["x-counted"] ? COUNTED : [])];
  // Among the refusals with 403 only a missing scope carries a challenge (RFC 6750).
  if (status === "401" || (status === "403" && !operation["x-oauth"])) names.push("WWW-Authenticate");
  return headerRefs(names);
}

function refusalHeaders(operation: Operation, status: string): Json {
  const waits = status === "429" || status === "503";
  return { ...commonHeaders(operation, status), ...headerRefs(waits ? ["Retry-After"] : []) };
}

function refusal(operation: Operation, status: string, slugs: ProblemSlug[], components: Components): Json {
  const oauth = operation["x-oauth"] === true;
  const schemas = new Set(oauth ? [OauthError] : slugs.map(problemSchema));
  // TypeBox schemas are JSON Schema.
  const [first = {}, ...more] = [...schemas].map((schema) => published(schema as Shape, { components, body: false }));
  const schema = more.length === 0 ? first : { anyOf: [first, ...more] };
  const examples = Object.fromEntries(slugs.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }]));
  return {
    description: slugs.map((slug) => problems[slug].title).join("; "),
    headers: refusalHeaders(operation, status),
    content: oauth
      ? { "application/json": { schema, example: exampleOf(OauthError as Shape) } }
      : { "application/problem+json": { schema, examples } },
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = { 201: "Created", 503: "Not ready" };
const MARKS = ["x-problems", "x-counted", "x-headers", "x-oauth", "x-body-optional"];

/** Adds what all operations share; the responses that refuse become components, one for each set of problems. */
function finishOperation(operation: Operation, responses: Record<string, Json>, components: Components): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === "Default Response") response.description = DESCRIPTIONS[status] ?? "Success";
    response.headers = {
      ...response.headers,
      ...headerRefs([...(operation["x-headers"]?.[Number(status)] ?? [])]),
      ...commonHeaders(operation, status),
    };
  }
  const oauth = operation["x-oauth"] === true;
  for (const [status, slugs] of byStatus(operation["x-problems"] ?? [])) {
    if (operation.responses[status] !== undefined) continue;
    const name = `${oauth ? "Oauth" : "Problem"}.${slugs.join(".")}${operation["x-counted"] ? "" : ".uncounted"}`;
    responses[name] ??= refusal(operation, String(status), slugs, components);
    operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
  if (operation["x-body-optional"] && operation.requestBody !== undefined) operation.requestBody.required = false;
  for (const mark of MARKS) delete operation[mark];
}

interface Document extends Json {
  paths: Record<string, Record<string, Operation>>;
  components: Json;
}

/** The complete document, from what the plugin made of the routes and the named schemas met on the way. */
function finishDocument(made: object, context: DaemonContext, components: Components): object {
  const document = made as Document; // the plugin builds it from documentBase and describeRoute
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const responses: Record<string, Json> = {};
  const slugs = new Set<ProblemSlug>();
  for (const operation of operations) {
    if (!operation["x-oauth"]) for (const slug of operation["x-problems"] ?? []) slugs.add(slug);
    finishOperation(operation, responses, components);
  }
  const examples = [...slugs].sort().map((slug) => [slug, { value: sampleProblem(slug, context) }]);
  const chapters = new Set(operations.flatMap((operation) => operation.tags ?? []));
  const text = JSON.stringify([document.paths, responses]);
  const used = Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`));
  const { webhooks, schemas: events, parameters } = webhookSection();
  const schemas = Object.entries({ ...Object.fromEntries(components), ...events });
  const complete = {
    ...document,
    webhooks,
    tags: tags.filter(({ name }) => name === "Webhooks" || chapters.has(name)),
    components: {
      ...document.components,
      schemas: Object.fromEntries(schemas.sort(([a], [b]) => (a < b ? -1 : 1))),
      parameters,
      headers: Object.fromEntries(used),
      responses,
      examples: Object.fromEntries(examples),
    },
  };
  return Object(refer(complete));
}

/** Collects the routes registered after it, and serves what they are at /openapi.json. */
export function registerOpenapi(app: App, context: DaemonContext): void {
  const components: Components = new Map();
  app.register(import("@fastify/swagger"), {
    openapi: documentBase(context),
    stripBasePath: false,
    convertConstToEnum: false,
    transform: ({ url, route }) => ({ url, schema: describeRoute(route, components) }),
    transformObject: (made) => finishDocument("openapiObject" in made ? made.openapiObject : {}, context, components),
  });
  app.register(async (scope) => {
    let text: string | undefined;
    const config = { public: true, cache: "public, max-age=60" };
    scope.get("/openapi.json", { config, schema: { hide: true } }, async (_request, reply) => {
      text ??= JSON.stringify(scope.swagger());
      return reply.type("application/json").send(text);
    });
  });
}

/** What a route may refuse with: what follows from its rule and schemas, and what it says itself. */
function problemsOf(config: FastifyContextConfig, schema: FastifySchema): ProblemSlug[] {
  const slugs = new Set<ProblemSlug>();
  const { body, querystring, params, headers } = schema;
  if (body !== undefined) {
    for (const slug of ["invalid_request", "payload_too_large", "unsupported_media_type"] as const) slugs.add(slug);
  }
  if ([body, querystring, params, headers].some((part) => part !== undefined)) slugs.add("validation");
  if (config.scope !== undefined) {
    for (const slug of [
      "unauthorized",
      "token_expired",
      "insufficient_scope",
      "partner_suspended",
      "ip_not_allowed",
    ] as const) {
      slugs.add(slug);
    }
  }
  if (config.identity === true) slugs.add("identity_not_allowed");
  // By their status only: the token endpoint says invalid_client and unauthorized_client.
  if (config.errorShape === "oauth") slugs.add("unauthorized").add("partner_suspended");
  for (const slug of config.problems ?? []) slugs.add(slug);
  if (config.rateLimit !== "exempt") slugs.add("rate_limit_exceeded").add("unavailable");
  slugs.add("internal");
  return [...slugs].sort((a, b) => problems[a].status - problems[b].status || (a < b ? -1 : 1));
}

/** The same slugs by HTTP status. */
function byStatus(slugs: readonly ProblemSlug[]): Map<number, ProblemSlug[]> {
  const statuses = new Map<number, ProblemSlug[]>();
  for (const slug of slugs) {
    const { status } = problems[slug];
    statuses.set(status, [...(statuses.get(status) ?? []), slug]);
  }
  return statuses;
}

/** The chapters of the API reference, in reading order. */
const tags = [
  { name: "Token", description: "Exchange a credential for an access token; keys and metadata to check it by." },
  { name: "Credentials", description: "Create, rotate and revoke your own credentials." },
  { name: "Products", description: "Browse the catalog of data plans and SIM products." },
  { name: "Catalog", description: "Export the catalog for e-commerce platforms." },
  { name: "Orders", description: "Place orders, follow them and fetch what was delivered." },
  { name: "Wallet", description: "The prepaid balance that orders are charged to." },
  { name: "Activations", description: "Submit, move and cancel activations of physical SIMs." },
  { name: "Identity pool", description: "Passport records that activations draw from." },
  { name: "eSIMs", description: "Status and data usage of an eSIM." },
  { name: "Events", description: "The feed of everything that happened." },
  {
    name: "Sandbox",
    description: "Move the sandbox clock and report on sandbox eSIMs: with sandbox credentials only.",
  },
  { name: "Webhooks", description: "Endpoints that receive signed notifications." },
  { name: "Travelers", description: "What a traveler opens without a token: QR codes and install pages." },
  { name: "Callbacks", description: "What carriers and suppliers send us." },
  { name: "Operations", description: "Health and readiness." },
];

const SCOPES: Record<(typeof scopes)[number], string> = {
  "read:products": "Browse the catalog",
  "read:orders": "Read orders, balances, activations and the passport list",
  "write:orders": "Place orders, submit and change activations, keep the passport pool",
  "read:esims": "Read eSIM delivery data and status",
  "read:webhooks": "Read events and webhook endpoints",
  "write:webhooks": "Create, change and delete webhook endpoints, and send to them again",
};

/** How callers show who they are: tokens, and signatures of callbacks. */
function securitySchemes(publicUrl: string) {
  return {
    oauth2: {
      type: "oauth2",
      description: "Exchange a credential for a token, then send it as Authorization: Bearer.",
      flows: { clientCredentials: { tokenUrl: `${publicUrl}/api/v1/oauth/token`, scopes: SCOPES } },
    },
    callbackSignature: {
      type: "apiKey",
      in: "header",
      name: "X-Signature",
      description:
        "t=<unix seconds>,v1=<hex>: HMAC-SHA256 of <t>.<raw body>, keyed with the secret shared with the operator.",
    },
  } as const;
}
