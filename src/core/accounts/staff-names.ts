import type { Actor } from "../audit/record.ts";
import type { Read } from "../store/store.ts";
import { actingUser, profileOf } from "./user.ts";

/** The names of the operator's own staff among those who acted. Those of partners' people stay with their partners. */
export async function staffNames(q: Read, actors: Iterable<Actor>): Promise<Map<Actor, string>> {
  const names = new Map<Actor, string>();
  for (const actor of new Set(actors)) {
    const user = await actingUser(q, actor);
    const name = user === null || user.staff_role === null ? null : profileOf(q, user).name;
    if (name !== null) names.set(actor, name);
  }
  return names;
}
