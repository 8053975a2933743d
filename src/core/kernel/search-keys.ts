/**
 * An e-mail address as look-ups spell it: without spaces around it, in lower case. Null for none. Done here and not by
 * the database, whose engines differ in what lower case is.
 */
export function emailKey(address: string | null | undefined): string | null {
  return address?.trim().toLowerCase() || null;
}

/**
 * A region as look-ups spell it: without spaces around it, in lower case. Done here and not by the database, whose
 * engines differ in what lower case is.
 */
export function regionKey(region: string): string {
  return region.trim().normalize("NFC").toLowerCase();
}
