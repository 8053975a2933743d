import { createCipheriv, createDecipheriv } from "node:crypto";
import { invalid } from "../../core/kernel/problem.ts";
import { field, type SignedInVisit } from "../session/visit.ts";
import { FILE_FIELD } from "./upload.ts";

/** The hidden field of what a form carries from its preview to its confirmation. */
export const CARRIED = "carried";

const CIPHER = "aes-256-gcm";
const [NONCE, TAG] = [12, 16];

/** A key of its own; what is carried is bound to the session, to the act and to where it was shown. */
function keyOf({ store }: SignedInVisit): Buffer {
  return store.vault.subkey("pages-carried");
}

/** What was shown to one partner, or in one environment, is not done in the other. */
function boundTo(visit: SignedInVisit, act: string): Buffer {
  return Buffer.from(JSON.stringify([act, visit.session.id, "owner" in visit ? visit.owner : null]));
}

/**
 * The form of a visit with plain data that its confirmation reads again, encrypted: a page holds no identity, and what
 * is confirmed is what was shown.
 */
export function carrying<V extends SignedInVisit>(visit: V, act: string, data: unknown): V {
  const nonce = visit.context.ids.bytes(NONCE);
  const cipher = createCipheriv(CIPHER, keyOf(visit), nonce).setAAD(boundTo(visit, act));
  const sealed = Buffer.concat([
    nonce,
    cipher.update(JSON.stringify(data), "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return { ...visit, form: { ...visit.form, [CARRIED]: sealed.toString("base64url") } };
}

/** What `carrying` put into this act's form. Throws `validation` for a form of another session or environment. */
export function carriedIn(visit: SignedInVisit, act: string): unknown {
  const sealed = Buffer.from(field(visit.form, CARRIED), "base64url");
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(visit), sealed.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(boundTo(visit, act)).setAuthTag(sealed.subarray(-TAG));
    const text = Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]);
    return JSON.parse(text.toString("utf8"));
  } catch {
    throw invalid({ [FILE_FIELD]: ["has to be chosen again: the page was out of date"] });
  }
}
