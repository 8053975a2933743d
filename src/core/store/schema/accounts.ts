import { sql } from "drizzle-orm";
import type { FactorId, InvitationId, PartnerId, SessionId, UserId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import { type Kit, leaseColumns } from "./kit.ts";
import type { partnersTables } from "./partners.ts";
import type { FactorKind, PartnerRole, StaffRole, UserStatus } from "./values.ts";

/** People who use the pages: who they are, what proves it, and where they are signed in. */
export function accountsTables(k: Kit, { partners }: Pick<ReturnType<typeof partnersTables>, "partners">) {
  const users = k.table(
    "users",
    {
      id: k.text("id").$type<UserId>().primaryKey(),
      /** Address and name as one JSON text, sealed by the vault. */
      sealed: k.text("sealed").notNull(),
      /** Blind index of the address. */
      email_index: k.text("email_index").notNull(),
      status: k.text("status").$type<UserStatus>().notNull(),
      /** Null: the roles are those at partners. */
      staff_role: k.text("staff_role").$type<StaffRole>(),
      /** Whether identities may be revealed by a role that cannot by itself. */
      reveal: k.flag("reveal").notNull(),
      /** argon2id in PHC format; null until the invitation is accepted. */
      password_hash: k.text("password_hash"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [k.uniqueIndex("users_email").on(t.email_index), k.index("users_created").on(t.created_at, t.id)],
  );

  const userId = () =>
    k
      .text("user_id")
      .$type<UserId>()
      .notNull()
      .references(() => users.id);

  const memberships = k.table(
    "memberships",
    {
      user_id: userId(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      role: k.text("role").$type<PartnerRole>().notNull(),
      created_at: k.int("created_at").notNull(),
      /** Since when the role holds; null: the invitation to it was not accepted yet. */
      accepted_at: k.int("accepted_at"),
    },
    (t) => [
      k.primaryKey({ columns: [t.user_id, t.partner_id] }),
      k.index("memberships_partner").on(t.partner_id, t.user_id),
    ],
  );

  const userFactors = k.table(
    "user_factors",
    {
      id: k.text("id").$type<FactorId>().primaryKey(),
      user_id: userId(),
      kind: k.text("kind").$type<FactorKind>().notNull(),
      /** What the user calls it; recovery codes have no name. */
      label: k.text("label"),
      /** The secret of TOTP, the public key of a passkey, the mark of a recovery code. */
      sealed: k.text("sealed").notNull(),
      /** A passkey's own ID. */
      credential_id: k.text("credential_id"),
      /** The last step of TOTP, or signature count of a passkey, that was used: none is accepted again. */
      used_no: k.int("used_no").notNull(),
      created_at: k.int("created_at").notNull(),
      /** Since when it proves the user; null: its first code was not entered yet. */
      confirmed_at: k.int("confirmed_at"),
    },
    (t) => [
      k.index("user_factors_user").on(t.user_id, t.id),
      k.uniqueIndex("user_factors_passkey").on(t.credential_id).where(sql`credential_id is not null`),
    ],
  );

  const invitations = k.table(
    "invitations",
    {
      id: k.text("id").$type<InvitationId>().primaryKey(),
      /** SHA-256 of the token in the link. */
      token_hash: k.text("token_hash").notNull(),
      user_id: userId(),
      partner_id: k.text("partner_id").$type<PartnerId>(),
      expires_at: k.int("expires_at").notNull(),
      created_at: k.int("created_at").notNull(),
      /** The token itself while its mail waits, sealed by the vault; null: it was mailed, or will not be. */
      token_sealed: k.text("token_sealed"),
      /** When its mail is tried next, or the lease of who sends it ends; null: no mail waits. */
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      /** Attempts to mail it that failed. */
      failed_attempts: k.int("failed_attempts").notNull(),
    },
    (t) => [
      k.uniqueIndex("invitations_token").on(t.token_hash),
      k.index("invitations_user").on(t.user_id),
      k.index("invitations_expiry").on(t.expires_at),
      k.index("invitations_due").on(t.due_at, t.id),
      // Nothing keeps a token that no worker looks at any more.
      k.check("invitations_waiting", sql`(token_sealed is null) = (due_at is null)`),
    ],
  );

  const sessions = k.table(
    "sessions",
    {
      id: k.text("id").$type<SessionId>().primaryKey(),
      /** SHA-256 of the token in the cookie. */
      token_hash: k.text("token_hash").notNull(),
      user_id: userId(),
      /** The partner whose pages are shown; null: the console's. */
      partner_id: k.text("partner_id").$type<PartnerId>(),
      /** The environment that the portal shows. */
      environment: k.text("environment").$type<Environment>().notNull(),
      /** The partner whose portal a member of staff looks at. */
      view_as: k.text("view_as").$type<PartnerId>(),
      /** Browser and system, so that its user knows it again. */
      agent: k.text("agent").notNull(),
      /** What a passkey has to sign next. */
      challenge: k.text("challenge"),
      /** When a second factor was given last; null: not yet. */
      factor_at: k.int("factor_at"),
      created_at: k.int("created_at").notNull(),
      seen_at: k.int("seen_at").notNull(),
    },
    (t) => [
      k.uniqueIndex("sessions_token").on(t.token_hash),
      k.index("sessions_user").on(t.user_id, t.id),
      k.index("sessions_partner").on(t.partner_id),
      k.index("sessions_seen").on(t.seen_at),
      k.index("sessions_created").on(t.created_at),
    ],
  );

  const signInFailures = k.table(
    "sign_in_failures",
    {
      /** A keyed mark of an account's or a client's address. */
      mark: k.text("mark").primaryKey(),
      failures: k.int("failures").notNull(),
      /** Since when they are counted. */
      since: k.int("since").notNull(),
      /** Until when further attempts are refused unread; null: none is. */
      blocked_until: k.int("blocked_until"),
    },
    (t) => [k.index("sign_in_failures_since").on(t.since)],
  );

  const formKeys = k.table(
    "form_keys",
    {
      /** The user and the key of a form that moved money: it acts once. */
      id: k.text("id").primaryKey(),
      used_at: k.int("used_at").notNull(),
    },
    (t) => [k.index("form_keys_used").on(t.used_at)],
  );

  return { users, memberships, userFactors, invitations, sessions, signInFailures, formKeys };
}
