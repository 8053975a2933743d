import type { EsimId } from "../kernel/brand.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

/** What installs an eSIM: all of it is sealed, in stock and once sold. */
export interface EsimCodes {
  smdp_address: string;
  matching_id: string;
  confirmation_code: string | null;
}

type Sealed = Pick<Row<"esims">, "id" | "iccid" | "environment" | "sealed">;

/** In place of the sealed codes of a sandbox eSIM that has no row: its codes follow from its ICCID. */
export const COMPUTED = "";

/** The codes of a synthetic eSIM. Its SM-DP+ is a name that can never resolve (RFC 6761). */
export function syntheticCodes(iccid: string): EsimCodes {
  return { smdp_address: "smdp.sandbox.invalid", matching_id: `SANDBOX-${iccid.slice(4)}`, confirmation_code: null };
}

function cellOf(id: EsimId): Cell {
  return { column: "esims.sealed", row: id };
}

/** The column of an eSIM's row that holds its codes, sealed as one text. */
export function sealCodes({ vault }: Pick<Read, "vault">, id: EsimId, codes: EsimCodes): { sealed: string } {
  const { smdp_address, matching_id, confirmation_code } = codes;
  return { sealed: vault.seal(JSON.stringify({ smdp_address, matching_id, confirmation_code }), cellOf(id)) };
}

/** What `sealCodes` sealed; null where it cannot be read, which is reported. */
export function openCodes(
  { vault }: Pick<Read, "vault">,
  { id, iccid, environment, sealed }: Sealed,
): EsimCodes | null {
  if (environment === "sandbox" && sealed === COMPUTED) return syntheticCodes(iccid);
  const opened = vault.openIfReadable(sealed, cellOf(id));
  // `sealCodes` sealed exactly this shape.
  return opened === null ? null : (JSON.parse(opened) as EsimCodes);
}

/** The codes as lists show them: empty where they cannot be read, which is reported. */
export function shownCodes(
  q: Pick<Read, "vault">,
  esim: Sealed,
): EsimCodes & { activation_code: string; unreadable?: boolean } {
  const codes = openCodes(q, esim);
  if (codes === null) {
    return { smdp_address: "", matching_id: "", activation_code: "", confirmation_code: null, unreadable: true };
  }
  return { ...codes, activation_code: activationCode(codes) };
}

/** The LPA string a phone reads (SGP.22): `LPA:1$<smdp address>$<matching id>`. */
export function activationCode({ smdp_address, matching_id }: Omit<EsimCodes, "confirmation_code">): string {
  return `LPA:1$${smdp_address}$${matching_id}`;
}

/** The parts of a whole LPA string; null when it is none. */
export function parseActivationCode(code: string): { smdp_address: string; matching_id: string } | null {
  const match = /^LPA:1\$([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)\$([A-Za-z0-9-]+)$/.exec(code);
  return match?.[1] && match[2] ? { smdp_address: match[1], matching_id: match[2] } : null;
}
