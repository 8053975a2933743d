import type { EsimId } from "../kernel/brand.ts";
import { notFound } from "../kernel/problem.ts";
import type { Vault } from "../store/vault.ts";

/** The unguessable token of an eSIM's QR code and install page: its id and a MAC of it. */
function linkToken(vault: Vault, esimId: EsimId): string {
  return Buffer.from(esimId.replaceAll("-", ""), "hex").toString("base64url") + vault.linkMark("esim", esimId);
}

/** The eSIM that a token was made for. Throws `not_found` for any other text. */
export function esimOfToken(vault: Vault, token: string): EsimId {
  const hex = Buffer.from(token.slice(0, 22), "base64url").toString("hex");
  // Shaped like an id; whether it is one, the comparison below and the look-up say.
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") as EsimId;
  if (token.length !== 44 || linkToken(vault, id) !== token) throw notFound("qr_code");
  return id;
}

/** The addresses a traveler opens without any token of the API. */
export function esimLinks(vault: Vault, publicUrl: string, esimId: EsimId) {
  const token = linkToken(vault, esimId);
  return { qr_code_url: `${publicUrl}/qr/${token}.png`, install_url: `${publicUrl}/install/${token}` };
}
