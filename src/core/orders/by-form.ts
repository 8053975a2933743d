import { firstTime } from "../accounts/form-keys.ts";
import type { UserId } from "../kernel/brand.ts";
import type { Tx } from "../store/store.ts";
import { type ActedOn, actOnOrder } from "./act.ts";

/** Acts as `actOnOrder` does, once by the key of its form; null: it did so before. Throws what that one throws. */
export async function actOnOrderByForm(
  tx: Tx,
  { key, userId, ...input }: Parameters<typeof actOnOrder>[1] & { key: string; userId: UserId },
): Promise<ActedOn | null> {
  return (await firstTime(tx, { key, userId })) ? actOnOrder(tx, input) : null;
}
