import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import { isSigned, jsonOf, type NoticeRead } from "../notices.ts";
import type { Notice } from "../provider.ts";
import { credentialOf } from "./client.ts";

/** A notice of low data, which is the only kind about an eSIM. */
const lowData = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{13,20}$" }) }));

/**
 * Which eSIM a notice is about. Which bytes are signed is not published: the body as it came, or its JSON as PHP writes
 * it, which is what Airalo's own library verifies.
 */
export function readAiraloNotice({ headers, body }: Notice, secret: Secret): NoticeRead {
  const given = headers["airalo-signature"];
  if (typeof given !== "string" || !/^[0-9a-f]{128}$/i.test(given)) return { refused: "it has no airalo-signature" };
  const parsed = jsonOf(body.toString("utf8"));
  const written = parsed === undefined ? [] : [JSON.stringify(parsed).replaceAll("/", "\\/")];
  const by = { hash: "sha512", key: credentialOf(secret).client_secret };
  if (![body, ...written].some((bytes) => isSigned(bytes, Buffer.from(given, "hex"), by))) {
    return { refused: "its airalo-signature is not that of this credential" };
  }
  return { esims: lowData.Check(parsed) ? [{ iccid: parsed.iccid, reference: null }] : [] };
}
