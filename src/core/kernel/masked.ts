/** A document's number with all but its end hidden: "018159083" → "••••••083". */
export function maskedNumber(number: string): string {
  return `${"•".repeat(Math.max(0, number.length - 3))}${number.slice(-3)}`;
}

/** An e-mail address with all but its first character hidden: "ottoline@example.com" → "o•••@…". */
export function maskedEmail(address: string): string {
  return `${[...address.trim()][0] ?? ""}•••@…`;
}

/** Names by their first letters: "Ottoline Mary", "Farrowgate" → "O. F.". */
export function maskedNames(...names: readonly string[]): string {
  const firsts = names.flatMap((name) => [...name.trim()].slice(0, 1));
  return firsts.map((letter) => `${letter}.`).join(" ");
}
