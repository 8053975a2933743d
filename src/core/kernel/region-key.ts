/**
 * A region as look-ups spell it: without spaces around it, in lower case. Done here and not by the database, whose
 * engines differ in what lower case is.
 */
export function regionKey(region: string): string {
  return region.trim().normalize("NFC").toLowerCase();
}
