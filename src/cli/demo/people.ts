import { Secret, TOTP } from "otpauth";
import { acceptInvitation } from "../../core/accounts/accept-invitation.ts";
import { beginTotp, confirmTotp } from "../../core/accounts/factors.ts";
import { inviteUser } from "../../core/accounts/invite.ts";
import { hashPassword } from "../../core/accounts/password.ts";
import { findUser } from "../../core/accounts/user.ts";
import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import { requirePartner } from "../../core/partners/partner.ts";
import type { Store } from "../../core/store/store.ts";
import { OPERATOR } from "../place/operator.ts";
import { DEMO_PARTNER } from "./content.ts";

/** A person who may sign in to the demo's pages. */
export interface DemoUser {
  face: "portal" | "console";
  email: string;
  password: string;
  /** The secret of the authenticator app; null: no second factor is asked for. */
  totp: string | null;
}

/** Milliseconds that a code is shown. */
const STEP_MS = 30_000;

/** An owner of the demo partner and an admin of the staff, with passwords of their own; none where they are there. */
export async function addDemoPeople(store: Store, { clock, ids }: { clock: Clock; ids: Ids }): Promise<DemoUser[]> {
  const { id } = await store.read(requirePartner, DEMO_PARTNER);
  const made: DemoUser[] = [];
  for (const person of [
    { face: "portal", email: "owner@demo.example", name: "Demo Owner", role: "owner", partnerId: id },
    { face: "console", email: "admin@demo.example", name: "Demo Admin", role: "admin", partnerId: null },
  ] as const) {
    if ((await store.read(findUser, person.email)) === null) made.push(await add(store, person, { clock, ids }));
  }
  return made;
}

interface Person extends Pick<DemoUser, "face" | "email"> {
  name: string;
  role: string;
  partnerId: PartnerId | null;
}

async function add(
  store: Store,
  { face, email, name, role, partnerId }: Person,
  { clock, ids }: { clock: Clock; ids: Ids },
): Promise<DemoUser> {
  const password = `demo-${ids.bytes(9).toString("base64url")}`;
  const { token } = await store.write(inviteUser, { email, role, partnerId, actor: OPERATOR });
  const passwordHash = await hashPassword(ids, password);
  const { userId } = await store.write(acceptInvitation, { token, name, passwordHash });
  if (partnerId !== null) return { face, email, password, totp: null };
  const { secret: totp } = await store.write(beginTotp, { userId, email });
  // The code before the present one, which is left to the first sign-in.
  await store.write(confirmTotp, { userId, code: codeAt(totp, clock.now() - STEP_MS), actor: OPERATOR });
  return { face, email, password, totp };
}

/** The code that an app shows at a moment (ms). */
export function codeAt(totp: string, timestamp: number): string {
  return new TOTP({ secret: Secret.fromBase32(totp) }).generate({ timestamp });
}
