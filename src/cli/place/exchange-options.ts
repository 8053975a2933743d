import type { Globals } from "../kernel/globals.ts";
import { text } from "../kernel/input.ts";

/** Options of a carrier or a supplier that is reached by a signed exchange. */
export const exchangeOptions = {
  secret: text("--secret <secret>", "the key of both signatures; - reads it from stdin or a hidden prompt"),
};

/** What was given of the exchange; undefined stays as it is. */
export async function exchangeSettings({ globals }: { globals: Globals }, secret: string | undefined) {
  const { readSecretArgument } = await import("../output/prompts.ts");
  return {
    insecure: globals.insecure || undefined,
    secret: secret === undefined ? undefined : await readSecretArgument(secret, "Secret", globals),
  };
}
