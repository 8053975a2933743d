/** A table in Markdown. */
export function markdownTable(titles: string[], rows: string[][]): string {
  const lines = [titles, titles.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** A text in the type of code. */
export function code(text: string): string {
  return `\`${text}\``;
}
