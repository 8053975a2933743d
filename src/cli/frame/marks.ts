import type { Command, Noun, Tree } from "./command.ts";

/** Where a command works: on the data at hand, at a server, at both; `-`: it needs neither; `mixed`: by its verbs. */
export type Mark = "data" | "server" | "both" | "-" | "mixed";

/** Marks by the words that name a command or noun: "serve", "orders", "orders create". */
export type Marks = ReadonlyMap<string, Mark>;

/** What the marks mean, below the lists that carry them. */
export const MARK_WORDS =
  "data: on the operator's data at hand. server: at a server. both: either. mixed: see its verbs. -: needs neither.";

/** Where one command works. */
function markOf({ target, worksOn }: Command): Mark {
  if (target === "process") return worksOn ?? "-";
  return target === "operator" ? "data" : "both";
}

async function marksOfNoun({ name, verbs }: Noun): Promise<[string, Mark][]> {
  const found = await Promise.all(
    verbs.map(async (verb): Promise<[string, Mark]> => [`${name} ${verb.name}`, markOf(await verb.load())]),
  );
  const kinds = new Set(found.map(([, mark]) => mark));
  const [only = "-"] = kinds;
  return [[name, kinds.size > 1 ? "mixed" : only], ...found];
}

/**
 * The marks of what the help asked for by `words` lists; none where it lists nothing. Only help loads commands that are
 * not run: its marks come from the commands themselves.
 */
export async function marksForHelp({ singles, nouns }: Tree, words: readonly string[]): Promise<Marks> {
  const end = words.indexOf("--");
  const typed = end === -1 ? words : words.slice(0, end);
  const asked = typed.some((word) => word === "--help" || word === "-h");
  const noun = nouns.find(({ name }) => typed.includes(name));
  // A noun without one of its verbs shows its help too.
  const line = ` ${typed.join(" ")} `;
  const named = noun?.verbs.some(({ name }) => line.includes(` ${noun.name} ${name} `)) === true;
  if (!asked && (noun === undefined || named)) return new Map();
  if (noun !== undefined) return new Map(await marksOfNoun(noun));
  if (singles.some(({ name }) => typed.includes(name))) return new Map();
  const alone = singles.map(async ({ name, load }): Promise<[string, Mark]> => [name, markOf(await load())]);
  return new Map([...(await Promise.all(alone)), ...(await Promise.all(nouns.map(marksOfNoun))).flat()]);
}
