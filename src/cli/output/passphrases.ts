import { isSealed } from "../../core/maintenance/seal.ts";
import { usageError } from "../kernel/errors.ts";
import { lineOfInput, type Manner, secret } from "./prompts.ts";

/** Shorter ones can be guessed by trying, however slow each attempt is. */
const LEAST_CHARACTERS = 12;

/** A passphrase to seal with: asked for twice at a terminal, else one line of standard input. Throws a usage error. */
export async function newPassphrase(manner: Manner): Promise<string> {
  const passphrase = await ask("Passphrase to seal the backup with", manner);
  if ([...passphrase].length < LEAST_CHARACTERS) {
    throw usageError(`A passphrase needs at least ${LEAST_CHARACTERS} characters.`, "Take several random words.");
  }
  if (process.stdin.isTTY !== true) return passphrase;
  if ((await ask("The same passphrase again", manner)) === passphrase) return passphrase;
  throw usageError("The two passphrases differ.", "Run it again.");
}

/** The passphrase of a sealed backup, asked for or read from standard input; null: the file is not sealed. */
export async function passphraseOf(file: string, manner: Manner): Promise<string | null> {
  return (await isSealed(file)) ? ask(`Passphrase of ${file}`, manner) : null;
}

async function ask(question: string, { json }: Manner): Promise<string> {
  // --yes answers confirmations, and there is no other answer to this.
  if (process.stdin.isTTY === true) return secret(question, "A passphrase on standard input", { json, yes: false });
  const line = (await lineOfInput()).trim();
  if (line === "") throw usageError("A passphrase is needed here.", "Give it as one line of standard input.");
  return line;
}
