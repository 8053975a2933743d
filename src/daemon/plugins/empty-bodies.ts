import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { Problem } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";

const DESCRIBING = ["content-type", "content-encoding", "transfer-encoding"] as const;

/** Whether no byte of a body follows the head. In chunks, only the first one or the end of the body shows it. */
async function isEmpty(headers: IncomingHttpHeaders, body: Readable): Promise<boolean> {
  if (headers["transfer-encoding"] === undefined) return Number(headers["content-length"] ?? 0) === 0;
  await once(body, "readable").catch(() => {
    throw new Problem("invalid_request", "The connection ended within the body.");
  });
  return body.readableLength === 0;
}

/**
 * Makes an empty body no body, on every route: what the head says about it is dropped before a parser is chosen by it.
 * Many HTTP clients give a request without content a media type all the same.
 */
export function registerEmptyBodies(app: App): void {
  app.addHook("preParsing", async (request, _reply, payload) => {
    const { headers } = request;
    const described = DESCRIBING.some((name) => headers[name] !== undefined);
    if (described && (await isEmpty(headers, request.raw))) for (const name of DESCRIBING) delete headers[name];
    return payload;
  });
}
