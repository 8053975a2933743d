import { createHmac, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { Notice, Provider } from "../provider.ts";
import { credentialOf } from "./client.ts";

/** A notice of low data, which is the only kind about an eSIM. */
const lowData = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{13,20}$" }) }));

/**
 * Which eSIM a notice is about. Which bytes are signed is not published: the body as it came, or its JSON as PHP writes
 * it, which is what Airalo's own library verifies.
 */
export function readAiraloNotice({ headers, body }: Notice, secret: Secret): ReturnType<Provider["readNotice"]> {
  const signature = headers["airalo-signature"];
  if (typeof signature !== "string" || !/^[0-9a-f]{128}$/i.test(signature)) {
    return { refused: "it has no airalo-signature" };
  }
  const parsed = jsonOf(body);
  const written = parsed === undefined ? [] : [JSON.stringify(parsed).replaceAll("/", "\\/")];
  const { client_secret } = credentialOf(secret);
  const isSigned = (bytes: Buffer | string) =>
    timingSafeEqual(createHmac("sha512", client_secret).update(bytes).digest(), Buffer.from(signature, "hex"));
  if (![body, ...written].some(isSigned)) {
    return { refused: "its airalo-signature is not that of this credential" };
  }
  return { esims: lowData.Check(parsed) ? [{ iccid: parsed.iccid, reference: null }] : [] };
}

/** Undefined: it is no JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
