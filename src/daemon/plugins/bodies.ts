import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import formbody from "@fastify/formbody";
import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";
import { codingFault } from "./http-rules.ts";
import { loopTurn } from "./turns.ts";

/** The largest body that is read, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

/** From this many bytes on, what follows of a body (parsing, validation, its handler) may take milliseconds. */
const LONG_JSON = 4 * 1024;

/**
 * Reads the JSON bodies of this scope, instead of how they were read before. Malformed JSON and other text than UTF-8
 * are `invalid_request`. `__proto__` and `constructor` are names like others: they become fields of the parsed object
 * itself and reach no prototype. `see` gets each raw body before it is parsed.
 */
export function readJson(app: App, see?: (request: FastifyRequest, body: Buffer) => void): void {
  const parseJson = app.getDefaultJsonParser("ignore", "ignore");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    const parse = () => {
      see?.(request, body);
      if (!isUtf8(body)) return done(new Problem("invalid_request", "The body is not UTF-8 text."));
      parseJson(request, body.toString("utf8"), done);
    };
    if (body.length < LONG_JSON) parse();
    else void loopTurn(request.principal).then(parse);
  });
}

/** Reads JSON bodies and nothing else. */
export function registerBodies(app: App): void {
  app.removeAllContentTypeParsers();
  readJson(app);
}

/** Lets the routes of this scope read form-urlencoded bodies too. */
export function acceptForms(app: App): void {
  app.register(formbody, { bodyLimit: BODY_LIMIT });
}

const DESCRIBING = ["content-type", "content-encoding", "transfer-encoding"] as const;

/** Whether the head says anything about a body. */
function isDescribed(headers: IncomingHttpHeaders): boolean {
  return DESCRIBING.some((name) => headers[name] !== undefined);
}

/** Whether no byte of a body in chunks follows the head: only the first one or the end of the body shows it. */
async function beginsEmpty(body: Readable): Promise<boolean> {
  await once(body, "readable").catch(() => {
    throw new Problem("invalid_request", "The connection ended within the body.");
  });
  return body.readableLength === 0;
}

/**
 * Makes an empty body no body, on every route: what the head says about it is dropped before a parser is chosen by it.
 * Many HTTP clients send a media type with a request that has no content. Refuses a body in a content coding.
 */
export function registerBodyHeads(app: App): void {
  app.addHook("preParsing", (request, reply, _payload, done) => {
    const { headers } = request;
    if (!isDescribed(headers)) return done();
    const settle = (empty: boolean) => {
      if (empty) for (const name of DESCRIBING) delete headers[name];
      const fault = codingFault(request, reply);
      return fault === undefined ? done() : done(fault);
    };
    if (headers["transfer-encoding"] === undefined) settle(Number(headers["content-length"] ?? 0) === 0);
    else beginsEmpty(request.raw).then(settle, done);
  });
}
