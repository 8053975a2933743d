import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ENTRY_BYTES, ownBytes } from "../../core/kernel/own-bytes.ts";

/** A JSON response ready to be sent. */
export interface KeptResponse {
  bytes: Buffer;
  /** By the content: after any change, of the program too, it is another one. */
  etag: string;
}

/** A response of this JSON text. */
export function keptResponse(text: string): KeptResponse {
  const bytes = ownBytes(text);
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  // Weak: a content coding changes the bytes and not what they say.
  return { bytes, etag: `W/"${digest}"` };
}

/** Bytes of memory that a kept response takes under its key: itself, and compressed in both codings at most as much. */
export function keptSize({ bytes }: KeptResponse, key: string): number {
  return 2 * (bytes.length + key.length) + ENTRY_BYTES;
}

/** Whether the caller has the response with this ETag already: If-None-Match names it (RFC 9110, 13.1.2). */
export function isUnchanged({ headers }: Pick<FastifyRequest, "headers">, etag: string): boolean {
  const asked = headers["if-none-match"];
  if (asked === undefined) return false;
  const opaque = etag.replace(/^W\//, "");
  return asked.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === opaque);
}

/** Sends a kept response, or 304 to a caller that has it. */
export function sendKept(request: FastifyRequest, reply: FastifyReply, { bytes, etag }: KeptResponse): FastifyReply {
  reply.header("etag", etag);
  if (isUnchanged(request, etag)) return reply.code(304).send();
  return reply.header("content-type", "application/json; charset=utf-8").send(bytes);
}
