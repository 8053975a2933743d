import { createHmac, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { EsimRef } from "../../../../core/supply/provider.ts";
import type { Notice } from "../provider.ts";
import { credentialOf } from "./client.ts";

/** A notice of low data: the only kind that is about an eSIM of ours. */
const lowData = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{13,20}$" }) }));

/**
 * Which eSIM a notice is about. Which bytes are signed is not published: the body as it came, or its JSON as PHP writes
 * it, which is what Airalo's own library verifies.
 */
export function readAiraloNotice(
  { headers, body }: Notice,
  secret: Secret,
): { esims: EsimRef[] } | { refused: string } {
  const signature = headers["airalo-signature"];
  if (typeof signature !== "string" || !/^[0-9a-f]{128}$/i.test(signature)) {
    return { refused: "it has no airalo-signature" };
  }
  const parsed = jsonOf(body);
  const forms = [body, ...(parsed === undefined ? [] : [Buffer.from(JSON.stringify(parsed).replaceAll("/", "\\/"))])];
  const { client_secret } = credentialOf(secret);
  if (!forms.some((bytes) => isSigned(bytes, signature, client_secret))) {
    return { refused: "its airalo-signature is not that of this credential" };
  }
  return { esims: lowData.Check(parsed) ? [{ iccid: parsed.iccid, reference: null }] : [] };
}

function isSigned(bytes: Buffer, signature: string, key: string): boolean {
  return timingSafeEqual(createHmac("sha512", key).update(bytes).digest(), Buffer.from(signature, "hex"));
}

/** Undefined: it is no JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
