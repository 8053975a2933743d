import type { Read } from "../store/store.ts";
import { ofMail } from "./by-mail.ts";
import { ofRequest } from "./by-request.ts";
import { isEmpty, joined, ofOwnNumber, ofWord, type Subjects, withOrdersAndEsims } from "./subjects.ts";

/**
 * Everything that `typed` may mean: an ICCID, an order number (ours or the partner's own), an e-mail address, a
 * passport number, the id of an HTTP request, or of anything that `ofId` knows.
 */
export async function findSubjects(q: Read, typed: string): Promise<Subjects> {
  const word = typed.trim();
  if (word.includes("@")) return withOrdersAndEsims(q, await ofMail(q, word));
  const named = await ofWord(q, word);
  // Partners choose the ids of their requests, and may take their own order numbers for them.
  const others = isEmpty(named) ? [await ofOwnNumber(q, word)] : [];
  return withOrdersAndEsims(q, [await ofRequest(q, word), ...others].reduce(joined, named));
}
