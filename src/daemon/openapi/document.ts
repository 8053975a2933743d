import type { FastifyContextConfig, RouteOptions } from "fastify";
import type { ProblemSlug } from "../../core/kernel/problem.ts";
import { problems } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context.ts";
import { headers, sampleProblem, schemas, securitySchemes } from "./components.ts";
import { publishedSchema } from "./published.ts";
import { byStatus, problemsOf } from "./route-problems.ts";
import { tags } from "./tags.ts";
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
export function documentBase({ addresses }: DaemonContext) {
  const description =
    "Browse products, place orders paid from a prepaid wallet, fetch eSIMs, activate physical SIMs, get webhooks. " +
    "Sandbox (sk_test_…) and production (sk_live_…) credentials share these addresses.";
  return {
    openapi: "3.1.0",
    info: { title: "Partner API", version: "1.0.0", description },
    servers: [{ url: addresses.publicUrl }],
    components: { securitySchemes: securitySchemes(addresses.publicUrl) },
  };
}

/** A route's schema for the document: its security, and marks for `finishDocument`. */
export function describeRoute({ config = {}, schema = {} }: RouteOptions): Json {
  return {
    ...publishedSchema(schema),
    security: config.scope === undefined ? [] : [{ oauth2: [config.scope] }],
    ...(config.errorShape === "oauth" ? { "x-oauth": true, consumes: FORM_OR_JSON } : {}),
    "x-problems": problemsOf(config, schema),
    "x-counted": config.rateLimit !== "exempt",
    ...(config.responseHeaders === undefined ? {} : { "x-headers": config.responseHeaders }),
  };
}

const FORM_OR_JSON = ["application/x-www-form-urlencoded", "application/json"];
const COUNTED = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

function headerRefs(names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function commonHeaders(operation: Operation, status: string): Json {
  const names = ["X-Request-Id", ...(operation["x-counted"] ? COUNTED : [])];
  if (status === "401") names.push("WWW-Authenticate");
  return headerRefs(names);
}

function refusalHeaders(operation: Operation, status: string): Json {
  const waits = status === "429" || status === "503";
  return { ...commonHeaders(operation, status), ...headerRefs(waits ? ["Retry-After"] : []) };
}

function problemResponse(operation: Operation, status: string, slugs: ProblemSlug[]): Json {
  const titles = slugs.map((slug) => problems[slug].title).join("; ");
  const examples = Object.fromEntries(slugs.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }]));
  return {
    description: titles,
    headers: refusalHeaders(operation, status),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" }, examples } },
  };
}

function oauthResponse(operation: Operation, status: string, slugs: ProblemSlug[]): Json {
  return {
    description: slugs.map((slug) => problems[slug].title).join("; "),
    headers: refusalHeaders(operation, status),
    content: { "application/json": { schema: { $ref: "#/components/schemas/OauthError" } } },
  };
}

const MARKS = ["x-problems", "x-counted", "x-headers", "x-oauth", "x-body-optional"];

/** Adds what all operations share; the responses that refuse become components, one for each set of problems. */
function finishOperation(operation: Operation, responses: Record<string, Json>): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === "Default Response") response.description = status === "201" ? "Created" : "Success";
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
    const make = oauth ? oauthResponse : problemResponse;
    responses[name] ??= make(operation, String(status), slugs);
    operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
  if (operation["x-body-optional"] && operation.requestBody !== undefined) operation.requestBody.required = false;
  for (const mark of MARKS) delete operation[mark];
}

interface Document extends Json {
  paths: Record<string, Record<string, Operation>>;
  components: Json;
}

/** The complete document, from what the plugin made of the routes. */
export function finishDocument(made: object, context: DaemonContext): Document {
  const document = made as Document; // the plugin builds it from documentBase and describeRoute
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const responses: Record<string, Json> = {};
  const slugs = new Set<ProblemSlug>();
  for (const operation of operations) {
    if (!operation["x-oauth"]) for (const slug of operation["x-problems"] ?? []) slugs.add(slug);
    finishOperation(operation, responses);
  }
  const examples = [...slugs].sort().map((slug) => [slug, { value: sampleProblem(slug, context) }]);
  const chapters = new Set(operations.flatMap((operation) => operation.tags ?? []));
  const text = JSON.stringify([document.paths, responses]);
  const used = (kind: string, all: Json): Json =>
    Object.fromEntries(Object.entries(all).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)));
  const { webhooks, schemas: events, parameters } = webhookSection();
  return {
    ...document,
    webhooks,
    tags: tags.filter(({ name }) => name === "Webhooks" || chapters.has(name)),
    components: {
      ...document.components,
      schemas: { ...used("schemas", schemas), ...events },
      parameters,
      headers: used("headers", headers),
      responses,
      examples: Object.fromEntries(examples),
    },
  };
}
