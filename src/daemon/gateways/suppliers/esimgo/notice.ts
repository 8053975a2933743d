import { createHmac, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { EsimRef } from "../../../../core/supply/provider.ts";
import type { Notice } from "../provider.ts";

const about = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{18,22}$" }) }));

/** Which eSIM a callback of version 3 is about: its signature is over the exact bytes, by the API key. */
export function readEsimgoNotice(
  { headers, body }: Notice,
  secret: Secret,
): { esims: EsimRef[] } | { refused: string } {
  const given = headers["x-signature-sha256"];
  if (typeof given !== "string" || given === "") {
    return { refused: "it is not signed: set the callbacks to version 3 in eSIM Go's portal" };
  }
  // The guide shows hex, the specification says base64.
  const signature = Buffer.from(given.trim(), /^[0-9a-f]{64}$/i.test(given.trim()) ? "hex" : "base64");
  const expected = createHmac("sha256", secret.reveal()).update(body).digest();
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    return { refused: "its signature is not by this API key" };
  }
  try {
    // An ICCID may come as a bare number, which a double would not hold.
    const notice: unknown = JSON.parse(body.toString("utf8").replace(/("iccid"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
    return { esims: about.Check(notice) ? [{ iccid: notice.iccid, reference: null }] : [] };
  } catch {
    return { refused: "it is no JSON" };
  }
}
