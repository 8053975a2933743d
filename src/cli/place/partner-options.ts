import type { Store } from "../../core/store/store.ts";
import { CliError } from "../kernel/errors.ts";
import type { Globals } from "../kernel/globals.ts";
import { argument, flag, type Option, required, text } from "../kernel/input.ts";
import { type Choice, pick } from "../output/prompts.ts";

/** What every partner-side command takes besides its own options. */
export const partnerOptions = {
  partner: text("--partner <slug>", "the partner to act for, on local data"),
  sandbox: flag("--sandbox", "in the sandbox instead of production, on local data"),
};

/** The same, for a command of this target: none where it acts for no partner. */
export function partnerOptionsOf(target: string): readonly Option<unknown>[] {
  return target === "partner" || target === "catalog" ? Object.values(partnerOptions) : [];
}

/** `--partner` of an operator's command, which must be given. */
export const partnerOption = required(text("--partner <slug>", "the partner"), "partner");

/** The partner as the argument of a command. */
export const partnerArgument = argument("slug", "the partner", "partner");

/** The hint that lists slugs. */
export const THEIR_SLUGS = "esimctl partners list names the partners.";

/** Asks for a partner of an open store. Throws a usage error without a terminal, `no_partners`. */
export async function pickPartner(globals: Globals, store: Store, flag = "--partner"): Promise<string> {
  return pick("Partner:", () => partnerChoices(store), flag, globals, `Add ${flag} SLUG. ${THEIR_SLUGS}`);
}

async function partnerChoices(store: Store): Promise<Choice[]> {
  const { listPartners } = await import("../../core/partners/partner.ts");
  const partners = await store.read(listPartners, null);
  if (partners.length === 0) {
    throw new CliError("no_partners", "There are no partners yet.", "esimctl partners create adds one.");
  }
  return partners.map(({ slug, name }) => ({ value: slug, name: `${slug} (${name})` }));
}
