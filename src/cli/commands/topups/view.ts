import type { TopupId } from "../../../core/kernel/brand.ts";
import type { TopupVerdict } from "../../../core/topups/operator.ts";
import type { Context } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { topupResult } from "../topup-record.ts";

/** A top-up, by its id. */
export const topupArgument = argument("id", "the top-up's id");

/** Does what the operator decides of a top-up, and shows it. */
export async function decideHere(context: Context, id: string, verdict: TopupVerdict): Promise<Result> {
  const { decideTopup } = await import("../../../core/topups/operator.ts");
  // Any text: one that is no id of a top-up is not found.
  const input = { id: id.trim() as TopupId, verdict, actor: OPERATOR };
  return topupResult(await context.withStore(({ store }) => store.write(decideTopup, input)));
}
