/** What may be between the values of a line. */
export type Delimiter = "," | ";" | "\t";

/** A first line such as `sep=;`, by which spreadsheets name the delimiter, and how many bytes it takes. */
export function separatorLine(head: Buffer): { delimiter: Delimiter; bytes: number } | null {
  const [line = "", found = ""] =
    /^(?:\xef\xbb\xbf)?"?sep=([,;\t])"?(?:\r\n|\n|\r)/i.exec(head.toString("latin1")) ?? [];
  const delimiter = found === ";" || found === "\t" ? found : ",";
  return found === "" ? null : { delimiter, bytes: line.length };
}

/** The delimiter that the first line which uses any uses most, outside quotes; a comma where none does. */
export function detectDelimiter(head: string): Delimiter {
  const counts = { ",": 0, ";": 0, "\t": 0 };
  let quoted = false;
  const used = () => counts[","] + counts[";"] + counts["\t"] > 0;
  for (const char of head) {
    if (char === '"') quoted = !quoted;
    if (quoted) continue;
    if ((char === "\n" || char === "\r") && used()) break;
    if (char === "," || char === ";" || char === "\t") counts[char] += 1;
  }
  if (counts[";"] > counts[","] && counts[";"] >= counts["\t"]) return ";";
  return counts["\t"] > counts[","] ? "\t" : ",";
}
