/**
 * The initials of a person's name: "P. U."; null: none is known. Whole names are on the page of one record that was
 * revealed, which is audited.
 */
export function personWords(name: string | null): string | null {
  if (name === null || name.trim() === "") return null;
  const initials = name
    .trim()
    .split(/\s+/)
    .map((word) => `${[...word][0] ?? ""}.`);
  return initials.join(" ");
}

/** The last three digits of a telephone number. */
export function phoneWords(number: string | null): string | null {
  return number === null ? null : `•••${number.slice(-3)}`;
}

/** What happened, with the telephone numbers in it as `phoneWords` writes them. */
export function withoutPhones<M extends { text: string }>(moments: readonly M[]): M[] {
  return moments.map((one) => ({
    ...one,
    text: one.text.replace(/\+\d{7,15}/g, (number) => phoneWords(number) ?? ""),
  }));
}
