import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { call, type Platform, type Reply } from "./platform.ts";

/** The parts of the document that tests read. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Response>;
    examples: Record<string, { value: unknown }>;
  };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response & { $ref?: string }>;
}

interface Response {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}

/** What the daemon serves at /openapi.json. */
export async function openApiOf({ url }: Pick<Platform, "url">): Promise<OpenApi> {
  return (await call(`${url}/openapi.json`)).body;
}

/** Every operation of the document. */
export function operationsIn(document: OpenApi): Operation[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path));
}

/** The response of an operation, with a shared one looked up. */
export function responseOf(document: OpenApi, operation: Operation, status: number | string): Response | undefined {
  const response = operation.responses[String(status)];
  const shared = response?.$ref?.split("/").at(-1);
  return shared === undefined ? response : document.components.responses[shared];
}

/** Checks values against schemas of the document, as a client's validator does. */
export function schemaChecker(document: OpenApi): (schema: object, value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "openapi.json", components: { schemas: document.components.schemas } });
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/** Headers that a response has only if the document says so, and has always if it does. */
const PROMISED = ["location", "idempotent-replayed", "retry-after", "x-request-id", "deprecation", "link"];
const ALLOWED = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "sunset", "www-authenticate"];

/** The differences of a response from the document, as sentences. */
export function responseChecker(document: OpenApi): (operationId: string, reply: Reply) => string[] {
  const check = schemaChecker(document);
  const operations = new Map(operationsIn(document).map((operation) => [operation.operationId, operation]));
  return (operationId, { status, headers, body }) => {
    const operation = operations.get(operationId);
    const response = operation === undefined ? undefined : responseOf(document, operation, status);
    if (response === undefined) return [`${operationId} ${status} is not documented`];
    const documented = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
    const faults = [
      ...PROMISED.filter((name) => headers.has(name) !== documented.includes(name)),
      ...ALLOWED.filter((name) => headers.has(name) && !documented.includes(name)),
    ].map((name) => `header ${name}: ${headers.has(name) ? "not documented" : "documented, not sent"}`);
    const type = headers.get("content-type")?.split(";", 1)[0] ?? "";
    const media = response.content?.[type];
    if (media === undefined) return response.content === undefined ? faults : [...faults, `sent as ${type}`];
    return [...faults, ...check(media.schema, body)];
  };
}
