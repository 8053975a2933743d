import type { Actor } from "../audit/record.ts";
import type { UserId } from "../kernel/brand.ts";
import { findByKey } from "../store/rows.ts";
import type { Read } from "../store/store.ts";
import { profileOf } from "./user.ts";

const USER = "user:";

/** The names of the operator's own staff among those who acted. Those of partners' people stay with their partners. */
export async function staffNames(q: Read, actors: Iterable<Actor>): Promise<Map<Actor, string>> {
  const names = new Map<Actor, string>();
  for (const actor of new Set(actors)) {
    if (!actor.startsWith(USER)) continue;
    // An actor of this kind ends in the id of a user.
    const user = await findByKey(q, "users", { id: actor.slice(USER.length) as UserId });
    const name = user === null || user.staff_role === null ? null : profileOf(q, user).name;
    if (name !== null) names.set(actor, name);
  }
  return names;
}
