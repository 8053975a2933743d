import { Secret, TOTP } from "otpauth";
import { acceptInvitation } from "../../src/core/accounts/accept-invitation.ts";
import { beginTotp, confirmTotp } from "../../src/core/accounts/factors.ts";
import { inviteUser } from "../../src/core/accounts/invite.ts";
import { hashPassword } from "../../src/core/accounts/password.ts";
import { openSession } from "../../src/core/accounts/sessions.ts";
import type { UserId } from "../../src/core/kernel/brand.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { requirePartner } from "../../src/core/partners/partner.ts";
import type { PartnerRole, StaffRole } from "../../src/core/store/schema/values.ts";
import type { TestClock } from "./clock.ts";
import { type Platform, type PlatformOptions, startPlatform } from "./platform.ts";
import { type Visitor, visitor } from "./visitor.ts";

/** The password of every person of the tests. */
export const PASSWORD = "violet otter runs 42";

let hash: Promise<string> | undefined;

/** A person who is signed in, with a browser of their own. */
export interface Person extends Visitor {
  id: UserId;
  email: string;
  /** The code that the person's app shows at this moment; each is accepted once, so it moves the clock on. */
  code(): string;
}

/** A platform that serves portal and console too. */
export function startPages(options: PlatformOptions = {}): Promise<Platform> {
  return startPlatform({ publicUrl: "bound", pages: true, ...options });
}

type Who = { email?: string; reveal?: boolean } & (
  | { partner: string; role: PartnerRole; factor?: boolean }
  | { partner?: undefined; role: StaffRole; factor?: undefined }
);

/** Where a person is made: a store, its clock, and the pages over it. */
export type Place = Pick<Platform, "store" | "url"> & { clock: Pick<TestClock, "now" | "advance"> };

let people = 0;

/** A person of a partner that is there, or of the staff, who is signed in; staff with a second factor. */
export async function person(platform: Place, who: Who): Promise<Person> {
  const { store, clock, url } = platform;
  const email = who.email ?? `${who.role}-${++people}@example.com`;
  const partnerId = who.partner === undefined ? null : (await store.read(requirePartner, who.partner)).id;
  const invited = await store.write(inviteUser, {
    email,
    role: who.role,
    partnerId,
    reveal: who.reveal === true,
    actor: "test",
  });
  hash ??= hashPassword(randomIds(), PASSWORD);
  const accepting = { token: invited.token, name: `Pat ${who.role}`, passwordHash: await hash };
  const { userId } = await store.write(acceptInvitation, accepting);
  const hasFactor = who.factor ?? partnerId === null;
  const codeOf = hasFactor ? await withApp(platform, { userId, email }) : () => "";
  const token = await store.write(openSession, { userId, partnerId, agent: "test", factor: hasFactor });
  const browser = visitor(url);
  browser.cookies.set("__Host-esimctl", token);
  return {
    ...browser,
    id: userId,
    email,
    code() {
      clock.advance(30_000);
      return codeOf();
    },
  };
}

async function withApp({ store, clock }: Place, { userId, email }: { userId: UserId; email: string }) {
  const { secret } = await store.write(beginTotp, { userId, email });
  const codeOf = () => totpCode(secret, clock.now());
  await store.write(confirmTotp, { userId, code: codeOf(), actor: "test" });
  return codeOf;
}

/** The code that an app with this secret shows at this moment (ms). */
export function totpCode(secret: string, at: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });
}
