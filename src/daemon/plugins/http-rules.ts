import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";
import { rulesOf } from "./route-rules.ts";

/** The most characters of a path parameter: as many as Node takes in the head of a request, so none is refused. */
export const LONGEST_PARAMETER = 16 * 1024;

/** Server options that accept what Node would refuse without a body, for `httpFault` to refuse. */
export const letThrough = { requireHostHeader: false } as const;

/** Lets requests with an unknown Expect through too. `100-continue` is answered by Node itself. */
export function takeExpectations(app: App): void {
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
}

/** The refusal of a head that HTTP does not allow, or that expects what the server does not support. */
export function httpFault({ headers, raw }: FastifyRequest): Problem | undefined {
  if (raw.httpVersion === "1.1" && headers.host === undefined) {
    return new Problem("invalid_request", "The Host header is missing.");
  }
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") {
    return new Problem("invalid_request", "The only Transfer-Encoding that is read is chunked.");
  }
  const twice = repeated(raw.rawHeaders);
  if (twice !== undefined) return new Problem("invalid_request", `The header ${twice} is there twice.`);
  const { expect } = headers;
  if (expect === undefined || expect.toLowerCase() === "100-continue") return undefined;
  return new Problem("expectation_failed", "The only expectation that is met is 100-continue.");
}

/** Headers of which two would leave open which one holds: a proxy may take another than we do. */
const SINGLE: readonly string[] = ["host", "idempotency-key"];

function repeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!SINGLE.includes(name)) continue;
    if (seen.has(name)) return rawHeaders[at];
    seen.add(name);
  }
  return undefined;
}

/** The refusal of a body in a content coding, such as gzip: 415 with the coding that is read (RFC 9110, 15.5.16). */
export function codingFault({ headers }: FastifyRequest, reply: FastifyReply): Problem | undefined {
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return undefined;
  reply.header("accept-encoding", "identity");
  return new Problem("unsupported_media_type", "A body in a Content-Encoding is not read; send it as it is.");
}

/** Cache-Control of every answer that no rule lets be kept. */
export const NO_STORE = "no-store";

/** Cache-Control of a response with an ETag: its caller may keep it, and asks each time whether it is current. */
const REVALIDATED = "private, no-cache";

/**
 * Cache-Control on every answer: no cache keeps any, since it may hold personal data, codes or secrets, unless its
 * route says in `config.cache` how long it may be kept, or it has an ETag. Refusals are never kept.
 */
export function registerCaching(app: App): void {
  app.addHook("onSend", (request, reply, _payload, done) => {
    const unmarked = reply.hasHeader("etag") ? REVALIDATED : NO_STORE;
    reply.header("cache-control", reply.statusCode < 400 ? (rulesOf(request).cache ?? unmarked) : NO_STORE);
    done();
  });
}
