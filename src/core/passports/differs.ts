/** Why a row is left out whose document is in the pool with other fields. */
export function differsWords(differs: readonly string[]): string {
  return `passport_no is in the pool with another ${differs.join(", ")}`;
}
