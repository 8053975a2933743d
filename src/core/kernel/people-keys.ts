import { emailKey } from "./search-keys.ts";

/** What a record names of a person, or of what belongs to one. */
export interface NamedPerson {
  name?: string | null | undefined;
  email?: string | null | undefined;
  /** Numbers of telephones, devices and parcels. */
  numbers?: readonly (string | null | undefined)[] | undefined;
}

/** Letters of a word that are indexed beside the whole word; of scripts that write syllables or words, one. */
const BEGINNING = 3;
const SYLLABLES = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Characters of a number that are indexed. */
const END = 4;

/** Letters that are no base letter with a mark, and how names with them are typed without. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ł: "l",
  þ: "th",
  ı: "i",
  ς: "σ",
};

const ASCII = /^[\x20-\x7e]*$/;

/** The words of a name as they are compared: without accents and apostrophes, in lower case. */
export function nameWords(name: string): string[] {
  // The same, where nothing can be folded: most names.
  if (ASCII.test(name))
    return (
      name
        .replace(/['`.]/g, "")
        .toLowerCase()
        .match(/[a-z0-9]+/g) ?? []
    );
  const folded = name
    .replace(/['’ʼ`´.]/g, "")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[ßæœøđðħłþıς]/g, (letter) => plainLetters[letter] ?? letter);
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The first letters of a folded word, as many as are indexed; all of a shorter word. */
function beginningOf(word: string): string {
  if (ASCII.test(word)) return word.slice(0, BEGINNING);
  return [...word].slice(0, lettersOf(word)).join("");
}

function lettersOf(word: string): number {
  return SYLLABLES.test(word) ? 1 : BEGINNING;
}

/** Whether every folded word that was typed is the beginning of a word of the name, in any order. */
export function nameMatches(name: string, typed: readonly string[]): boolean {
  const words = nameWords(name);
  return typed.length > 0 && typed.every((begin) => words.some((word) => word.startsWith(begin)));
}

/** A number as numbers are compared: its letters and digits, in upper case. */
function numberKey(number: string | null | undefined): string {
  return (number ?? "")
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

/** Whether a number ends with what was typed, at least four characters, however both are written. */
export function numberEndsWith(number: string | null | undefined, typed: string): boolean {
  const end = numberKey(typed);
  return end.length >= END && numberKey(number).endsWith(end);
}

/** The digits of a telephone number without what only some write: the trunk zero and the international prefix. */
function subscriberDigits(phone: string): string {
  const digits = phone.normalize("NFKC").replace(/\(0\)/g, "").replace(/\D+/g, "");
  return digits.replace(/^0+/, "");
}

/** Digits of a whole telephone number at least, and of a country code at most. */
const WHOLE_PHONE = 7;
const COUNTRY_CODE = 3;

/** Whether a telephone number is the one that was typed, or ends with it; a country code may be missing on one side. */
export function phoneMatches(phone: string | null | undefined, typed: string): boolean {
  if (phone === null || phone === undefined || typed.replace(/\D+/g, "").length < END) return false;
  const [stored, asked] = [subscriberDigits(phone), subscriberDigits(typed)];
  if (endOf(phone.replace(/\D+/g, "")) !== endOf(typed.replace(/\D+/g, ""))) return false;
  if (stored.endsWith(asked)) return true;
  const code = asked.length - stored.length;
  return stored.length >= WHOLE_PHONE && code <= COUNTRY_CODE && asked.endsWith(stored);
}

function endOf(text: string): string {
  return [...text].slice(-END).join("");
}

/** The key of a whole folded word. */
export function wordKey(word: string): string {
  return `n:${word}`;
}

/** The key of all words with this beginning; null where fewer letters were typed than are indexed. */
export function beginningKey(word: string): string | null {
  return [...word].length < lettersOf(word) ? null : `n:${beginningOf(word)}`;
}

/** The key of an e-mail address; null for none. */
export function addressKey(address: string | null | undefined): string | null {
  const key = emailKey(address);
  return key === null ? null : `m:${key}`;
}

/** The key of all numbers with the same end; null where it is too short. */
export function endKey(number: string | null | undefined): string | null {
  const key = numberKey(number);
  return [...key].length < END ? null : `e:${endOf(key)}`;
}

/** The keys under which a record is found by the people it names: few, since each is a row. */
export function keysOfPerson({ name, email, numbers = [] }: NamedPerson): string[] {
  const words = nameWords(name ?? "").flatMap((word) => [wordKey(word), `n:${beginningOf(word)}`]);
  const others = [addressKey(email), ...numbers.map(endKey)].filter((key) => key !== null);
  return [...new Set([...words, ...others])];
}
