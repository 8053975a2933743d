import type { Checked } from "../kernel/checked.ts";
import { visibleText } from "../kernel/iccid.ts";

/** What an activation code says (SGP.22, section 4.1). */
export interface ActivationCode {
  smdp_address: string;
  /** "": the code leaves it out, and the device asks the SM-DP+ by its EID. */
  matching_id: string;
  /** The object identifier of the SM-DP+; null: none. */
  oid: string | null;
  /** Whether the device asks for a confirmation code. */
  confirmation_required: boolean;
}

/** The code that a phone reads: `LPA:1$<address>$<matching id>`, and what else it came with. */
export function activationCode(code: Pick<ActivationCode, "smdp_address" | "matching_id"> & Partial<ActivationCode>) {
  const { smdp_address, matching_id, oid = null, confirmation_required = false } = code;
  const flag = confirmation_required ? "$1" : "";
  return `LPA:1$${smdp_address}$${matching_id}${oid !== null || confirmation_required ? `$${oid ?? ""}` : ""}${flag}`;
}

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const MATCHING_ID = /^[A-Za-z0-9-]*$/;
const OID = /^\d+(\.\d+)+$/;
const WANTED = "must look like LPA:1$<smdp_address>$<matching_id>";

/**
 * Reads an activation code as suppliers write it: with or without `LPA:`, in any case, in quotes, with blanks, or as
 * the `carddata` of an install link. The problem is one sentence behind the field's name.
 */
export function readActivationCode(text: string): Checked<ActivationCode, string> {
  const plain = codeOf(text);
  const [version = "", smdp_address = "", matching_id, oid = "", flag = "", ...rest] = plain.split("$");
  if (version !== "1" || matching_id === undefined || rest.length > 0) return { problems: WANTED };
  const fault = hostFault(smdp_address);
  if (fault !== null) return { problems: `${WANTED}: its address ${fault}` };
  if (!MATCHING_ID.test(matching_id)) return { problems: `${WANTED}: its matching ID has other characters` };
  if (oid !== "" && !OID.test(oid)) return { problems: `${WANTED}: its fourth part must be an object identifier` };
  if (!["", "0", "1"].includes(flag)) return { problems: `${WANTED}: its fifth part must be 1 or be left out` };
  return { ok: { smdp_address, matching_id, oid: oid === "" ? null : oid, confirmation_required: flag === "1" } };
}

/** The code's parts without what is around them. */
function codeOf(text: string): string {
  const [, linked] = /[?&]carddata=([^&#]+)/i.exec(text) ?? [];
  const plain = visibleText(linked === undefined ? text : decoded(linked)).replace(/^["'“”«»]+|["'“”«»]+$/g, "");
  return plain
    .replace(/\s+/g, "")
    .replace(/^lpa:/i, "")
    .replace(/^\uff11/, "1");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Why a text is no address of an SM-DP+, in words behind its name; null: it is one. */
export function hostFault(host: string): string | null {
  if (/:\d+$/.test(host)) return "must be a host name without a port";
  if (/^[a-z]+:\/\//i.test(host) || host.includes("/")) return "must be a host name without https:// and a path";
  return HOST.test(host) ? null : "must be a host name";
}

/** Whether a text may be a matching ID that is not left out. */
export function isMatchingId(text: string): boolean {
  return text !== "" && MATCHING_ID.test(text);
}
