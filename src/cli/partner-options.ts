import { flag, type Option, text } from "./input.ts";

/** What every partner-side command takes besides its own options. */
export const partnerOptions = {
  partner: text("--partner <slug>", "the partner to act for, on data at hand"),
  sandbox: flag("--sandbox", "in the sandbox instead of production, on data at hand"),
};

/** The same, for a command of this stand: none where it acts for no partner. */
export function partnerOptionsOf(stand: string): readonly Option<unknown>[] {
  return stand === "partner" || stand === "catalog" ? Object.values(partnerOptions) : [];
}
