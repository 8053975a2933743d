import type { Api } from "../client/api.ts";
import type { Context } from "./command.ts";

/**
 * Asks before an operator acts for a suspended partner, whom the API itself refuses. Throws what `Context.confirm`
 * throws.
 */
export async function confirmSuspended(context: Context, { local, actsAs }: Api): Promise<void> {
  if (local === undefined || local.partnerId === "") return;
  const { partnerById } = await import("../../core/partners/partner.ts");
  const { slug, status, suspended_reason } = await local.store.read(partnerById, local.partnerId);
  if (status !== "suspended") return;
  const why = suspended_reason === null ? "" : ` (${suspended_reason})`;
  await context.confirm(`${slug} is suspended${why}. Act for it all the same?`, { whose: actsAs });
}
