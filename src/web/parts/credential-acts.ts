import { withoutHidden } from "../../core/kernel/hidden-characters.ts";

/** An act on a credential in the words that portal and console share. */
export interface CredentialAct {
  /** The end of its address. */
  verb: string;
  button: string;
  title(name: string): string;
  /** What comes of it. */
  words: string;
}

/** A credential gets another secret. */
export const replacingSecret: CredentialAct = {
  verb: "rotate",
  button: "Replace the secret",
  title: (name) => `Replace the secret of ${withoutHidden(name)}?`,
  words: "The old secret is refused at once. Tokens that were issued live on until they expire.",
};

/** A credential ends. */
export const revokingCredential: CredentialAct = {
  verb: "revoke",
  button: "Revoke the credential",
  title: (name) => `Revoke ${withoutHidden(name)}?`,
  words: "It and every token that it got stop working at once, for good.",
};
