import { firstTime } from "../accounts/form-keys.ts";
import type { UserId } from "../kernel/brand.ts";
import type { Tx } from "../store/store.ts";
import { decideTopup } from "./operator.ts";
import type { Topup } from "./topup.ts";

/** Decides as `decideTopup` does, once by the key of its form; null: it did so before. Throws what that one throws. */
export async function decideTopupByForm(
  tx: Tx,
  { key, userId, ...input }: Parameters<typeof decideTopup>[1] & { key: string; userId: UserId },
): Promise<Topup | null> {
  return (await firstTime(tx, { key, userId })) ? decideTopup(tx, input) : null;
}
