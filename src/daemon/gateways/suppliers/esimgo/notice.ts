import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import { isSigned, jsonOf, type NoticeRead } from "../notices.ts";
import type { Notice } from "../provider.ts";

const about = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{18,22}$" }) }));

/** Which eSIM a callback of version 3 is about: its signature is over the exact bytes, by the API key. */
export function readEsimgoNotice({ headers, body }: Notice, secret: Secret): NoticeRead {
  const given = headers["x-signature-sha256"];
  if (typeof given !== "string" || given === "") {
    return { refused: "it is not signed: set the callbacks to version 3 in eSIM Go's portal" };
  }
  // The guide shows hex, the specification says base64.
  const signature = Buffer.from(given.trim(), /^[0-9a-f]{64}$/i.test(given.trim()) ? "hex" : "base64");
  if (!isSigned(body, signature, { hash: "sha256", key: secret.reveal() })) {
    return { refused: "its signature is not by this API key" };
  }
  // An ICCID may come as a bare number, which a double would not hold.
  const notice = jsonOf(body.toString("utf8").replace(/("iccid"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
  if (notice === undefined) return { refused: "it is no JSON" };
  return { esims: about.Check(notice) ? [{ iccid: notice.iccid, reference: null }] : [] };
}
