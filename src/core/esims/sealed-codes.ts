import type { EsimId } from "../kernel/brand.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";
import { activationCode } from "./activation-code.ts";

/** What installs an eSIM: all of it is sealed, in stock and once sold. */
export interface EsimCodes {
  smdp_address: string;
  matching_id: string;
  confirmation_code: string | null;
  /** What the code had as it came in; left out in eSIMs from before. */
  oid?: string | null;
  confirmation_required?: boolean;
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
  const { smdp_address, matching_id, confirmation_code, oid = null, confirmation_required = false } = codes;
  const plain = { smdp_address, matching_id, confirmation_code };
  const more = { ...(oid === null ? {} : { oid }), ...(confirmation_required ? { confirmation_required } : {}) };
  return { sealed: vault.seal(JSON.stringify({ ...plain, ...more }), cellOf(id)) };
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

interface ShownCodes extends Pick<EsimCodes, "smdp_address" | "matching_id" | "confirmation_code"> {
  activation_code: string;
  unreadable?: boolean;
}

/** The codes as lists show them: empty where they cannot be read, which is reported. */
export function shownCodes(q: Pick<Read, "vault">, esim: Sealed): ShownCodes {
  const codes = openCodes(q, esim);
  if (codes === null) {
    return { smdp_address: "", matching_id: "", activation_code: "", confirmation_code: null, unreadable: true };
  }
  const { smdp_address, matching_id, confirmation_code } = codes;
  return { smdp_address, matching_id, confirmation_code, activation_code: activationCode(codes) };
}
