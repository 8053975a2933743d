/** What a decoder writes for bytes that it cannot read, and C1 controls, which no text has. */
const UNREADABLE = /[\ufffd\u0080-\u009f]/;
/** UTF-8 that was read as windows-1252: "JosÃ©", "â€™", "Ð˜Ð²". */
const READ_AS_WINDOWS = /[ÂÃÄÅÐÑ][\u00a0-\u00bf‚„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ€]|â€[\u0080-\u00bf™œž˜“”¢¦]/;
/** What letters of cp850, mac and shift-jis become in windows-1252, and no name has. */
const NO_NAME = /[‚„†‡‰‹›•™¢£¤¥¦§©«¬®¯°±²³µ¶¹»¼½¾¿×÷ˆ˜€ƒ]/;
const SPREADSHEET_ERROR = /^#(N\/A|REF!|VALUE!|NAME\?|NULL!|DIV\/0!|NUM!|SPILL!|CALC!)$/i;
const PLACEHOLDER = /^(null|n\/?a|none|nil|undefined|unknown|-{2,}|tbd|tba)$/i;

const ENCODINGS = "windows-1252, cp850, mac or shift-jis?";

/** Why a text cannot be what its writer meant, in words behind the field's name; null: it can. */
export function damageIn(text: string, { isName }: { isName: boolean }): string | null {
  if (SPREADSHEET_ERROR.test(text))
    return `is a spreadsheet's error (${text.toUpperCase()}): correct the formula there`;
  if (UNREADABLE.test(text) || READ_AS_WINDOWS.test(text) || (isName && NO_NAME.test(text))) {
    return `has damaged letters: the text was read in another encoding than it was written in (${ENCODINGS})`;
  }
  return null;
}

/** Whether a text only says that there is none: "NULL", "N/A". */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}
