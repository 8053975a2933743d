import {
  addressKey,
  beginningKey,
  endKey,
  nameMatches,
  nameWords,
  numberEndsWith,
  phoneMatches,
  wordKey,
} from "./people-keys.ts";
import { emailKey } from "./search-keys.ts";

/** Whom a record names, and the numbers that belong to it. */
export interface Named {
  name: string;
  email?: string | null;
  phones?: readonly (string | null)[];
  numbers?: readonly (string | null)[];
}

/** What was typed to find records by. */
export interface Search {
  /** Keys of the index, one or two at a time: all that fit are under those of one pass. */
  passes: (readonly [key: string, other?: string | undefined])[];
  /** Which of the records under the keys are meant. */
  fits(named: Named): boolean;
}

/** How a telephone number may be written. */
const PHONE = /^[+\d\s()./\u00ad\u2010-\u2015\u2212-]+$/;

/** What may be meant by a text: an address, the words of a name, or a number or its end; null: none of these. */
export function searchFor(typed: string): Search | null {
  if (!typed.includes("@") && /\p{N}/u.test(typed)) return searchForNumber(typed);
  return searchForPerson(typed);
}

/** The same for an address or the words of a name alone. */
export function searchForPerson(typed: string): Search | null {
  const address = typed.includes("@") ? addressKey(typed) : null;
  if (address !== null) return { passes: [[address]], fits: ({ email }) => emailKey(email) === emailKey(typed) };
  const words = nameWords(typed);
  // The longest words lead to the fewest records.
  const [first, second] = words.toSorted((a, b) => b.length - a.length);
  if (first === undefined) return null;
  const beginning = beginningKey(first);
  const other = second === undefined ? undefined : (beginningKey(second) ?? undefined);
  return {
    // Whole words first, so that those typed in full are found however many others begin alike.
    passes: [
      [wordKey(first), second === undefined ? undefined : wordKey(second)],
      ...(beginning === null ? [] : [[beginning, other] satisfies Search["passes"][number]]),
    ],
    fits: ({ name }) => nameMatches(name, words),
  };
}

function searchForNumber(typed: string): Search | null {
  const key = endKey(typed);
  if (key === null) return null;
  const phone = PHONE.test(typed);
  return {
    passes: [[key]],
    fits: ({ phones = [], numbers = [] }) =>
      (phone && phones.some((each) => phoneMatches(each, typed))) ||
      numbers.some((each) => numberEndsWith(each, typed)),
  };
}
