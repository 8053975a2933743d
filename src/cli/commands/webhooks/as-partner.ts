import type { Context } from "../../frame/command.ts";

/**
 * Whether the command acts as one partner: at a server, and on data where --partner or --sandbox is given. Elsewhere
 * it is the operator's, over all partners.
 */
export async function actsAsPartner({ actsFor, where }: Context): Promise<boolean> {
  return actsFor.partner !== undefined || actsFor.sandbox || (await where()).kind === "server";
}
