import type { Invited } from "../../../core/accounts/invite.ts";
import type { Profile, User } from "../../../core/accounts/user.ts";
import type { PartnerId } from "../../../core/kernel/brand.ts";
import type { Store } from "../../../core/store/store.ts";
import { text } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { shown } from "../../output/words.ts";

/** The keys of a user, for help. */
export const USER_JSON = "id, email, name, role, partner, reveal, status";

/** The keys of a user who was invited, for help. */
export const INVITED_JSON = `{user: {${USER_JSON}}, link, expires_at}`;

/** Which of a user's roles is meant. */
export const rolePartner = text("--partner <slug>", "the role at this partner (default: the staff's, or the first)");

export const userColumns: Column<User>[] = [
  { title: "email", value: (one) => one.email },
  { title: "name", value: (one) => shown(one.name) },
  { title: "partner", value: (one) => one.partner ?? "(staff)" },
  { title: "role", value: (one) => (one.reveal ? `${one.role}, reveals` : one.role) },
  { title: "status", value: (one) => one.status },
];

function fieldsOf({ email, name, partner, role, reveal, status }: User): Record<string, string> {
  const words = reveal ? `${role}, may reveal identities` : role;
  return { email, name: shown(name), partner: partner ?? "(staff)", role: words, status };
}

/** A user, for a person or a program. */
export function userResult(user: User): Result {
  return recordResult(user, () => fieldsOf(user));
}

/** A user in one role, with the ID of the partner. Throws `not_found`. */
export async function userAndPartner(
  store: Store,
  { email, partner }: Pick<Profile, "email"> & { partner: string | undefined },
): Promise<{ user: User; partnerId: PartnerId | null }> {
  const [{ requireUser, showUser, userIn }, { requirePartner }] = await Promise.all([
    import("../../../core/accounts/user.ts"),
    import("../../../core/partners/partner.ts"),
  ]);
  const user = await store.read(async (q) => {
    if (partner === undefined) return showUser(q, email);
    return userIn(q, await requireUser(q, email), (await requirePartner(q, partner)).id);
  }, null);
  const slug = user.partner;
  return { user, partnerId: slug === null ? null : (await store.read(requirePartner, slug)).id };
}

/** What is printed of an invitation: its link is shown this once. */
export async function invitedResult(store: Store, { user, token, expires_at }: Invited): Promise<Result> {
  const [{ readSetting }, { DEFAULT_ADDRESS }] = await Promise.all([
    import("../../../core/platform/settings.ts"),
    import("../../client/in-process.ts"),
  ]);
  const publicUrl = (await store.read(readSetting, "public_url")) ?? DEFAULT_ADDRESS;
  const face = user.partner === null ? "console" : "portal";
  const link = `${publicUrl}/${face}/invitations/${token}`;
  return recordResult(
    { user, link, expires_at },
    () => ({ ...fieldsOf(user), link, "valid until": expires_at }),
    "Hand the link over on a way that only this person reads: it sets the password, once.",
  );
}
