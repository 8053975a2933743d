import { createHash } from "node:crypto";
import type { Ids } from "../kernel/ids.ts";

/** 256 random bits in 43 characters, and how they are stored. */
export function newToken(ids: Ids): { token: string; token_hash: string } {
  const token = ids.bytes(32).toString("base64url");
  return { token, token_hash: hashOfToken(token) };
}

/** How the token of a link or a cookie is stored. */
export function hashOfToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
