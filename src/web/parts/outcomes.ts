/** What became of the rows of an import, counted in words. */
export function outcomeWords(outcomes: readonly ("imported" | "updated" | "duplicate")[]): string {
  const many = (wanted: (typeof outcomes)[number]) => outcomes.filter((one) => one === wanted).length;
  return `${many("imported")} new, ${many("updated")} changed, ${many("duplicate")} as they were`;
}
