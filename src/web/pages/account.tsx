import { renameUser } from "../../core/accounts/change-user.ts";
import { factorsOf } from "../../core/accounts/factors.ts";
import { hashPassword, requirePassword, verifyPassword } from "../../core/accounts/password.ts";
import { endSession, type ListedSession, listSessions } from "../../core/accounts/sessions.ts";
import { changePassword } from "../../core/accounts/sign-in.ts";
import { failSignIn, refusalOf, refuseBlocked } from "../../core/accounts/sign-in-attempts.ts";
import { userById } from "../../core/accounts/user.ts";
import type { SessionId } from "../../core/kernel/brand.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { formShown } from "../parts/act-form.tsx";
import { ActButton } from "../parts/form.tsx";
import { Rows } from "../parts/list.tsx";
import { pageShown } from "../parts/shown.tsx";
import { sharedPage } from "../session/page.ts";
import { requiredField, type Shown, type SignedInVisit } from "../session/visit.ts";
import { factorPages } from "./account-factors.tsx";

async function accountPage(visit: SignedInVisit): Promise<Shown> {
  const { store, user, base } = visit;
  const [sessions, { factors }] = [await store.read(listSessions, user.id), await store.read(factorsOf, user.id)];
  const typed = { type: "password", required: true };
  const body = (
    <>
      {formShown(visit, {
        ...{ title: "Who you are", intro: user.email, to: "/account/name", submit: "Save" },
        fields: [{ name: "name", label: "Name", value: user.name, autocomplete: "name", required: true }],
      })}
      <section>
        <h2>Second factor</h2>
        <p>
          {factors.length === 0 ? "None yet." : `${factors.map(({ label }) => label).join(", ")}.`}{" "}
          <a href={`${base}/account/factors`}>Change your second factor</a>
        </p>
      </section>
      {formShown(visit, {
        ...{ title: "Password", to: "/account/password", submit: "Change the password" },
        // Password managers keep the new password by it.
        before: <input type="hidden" name="username" autocomplete="username" value={user.email} />,
        fields: [
          { name: "current", label: "Current password", autocomplete: "current-password", ...typed },
          { name: "password", label: "New password", autocomplete: "new-password", ...typed },
          "Your other sessions end.",
        ],
      })}
      {sessionsShown(visit, sessions)}
    </>
  );
  return pageShown(visit, "Your account", body);
}

function sessionsShown(visit: SignedInVisit, sessions: readonly ListedSession[]) {
  return (
    <section>
      <h2>Sessions</h2>
      <Rows
        visit={visit}
        caption="Your sessions"
        rows={sessions}
        empty="There is none."
        columns={[
          { title: "Where", cell: (one) => (one.id === visit.session.id ? `${one.agent} (this one)` : one.agent) },
          { title: "Since", cell: (one) => ({ time: one.created_at }) },
          { title: "Last used", cell: (one) => ({ time: one.seen_at }) },
        ]}
      />
      <div class="acts">
        {sessions
          .filter(({ id }) => id !== visit.session.id)
          .map(({ id, agent }) => (
            <ActButton visit={visit} to="/account/sessions/end" label={`End ${agent}`} hidden={{ session: id }} />
          ))}
      </div>
    </section>
  );
}

async function rename(visit: SignedInVisit): Promise<Shown> {
  const { store, user, actor, form } = visit;
  await store.write(renameUser, { userId: user.id, name: requiredField(form, "name"), actor });
  return { to: "/account", notice: "Your name is changed." };
}

/** Who has a session that was left open may not guess the password: attempts are counted as those of a sign-in are. */
async function requireCurrent({ store, user, form, request }: SignedInVisit): Promise<void> {
  const attempt = { email: user.email, ip: request.ip };
  await store.read(refuseBlocked, attempt);
  const { password_hash } = await store.read(userById, user.id);
  if (await verifyPassword(String(form.current ?? ""), password_hash)) return;
  const failed = await store.write(failSignIn, { ...attempt, userId: user.id }, request.id);
  throw failed.waitMs > 0 ? refusalOf(failed) : invalid({ current: ["is wrong"] });
}

async function newPassword(visit: SignedInVisit): Promise<Shown> {
  const { store, user, actor, form, session, context } = visit;
  await requireCurrent(visit);
  const password = String(form.password ?? "");
  await requirePassword(password);
  const passwordHash = await hashPassword(context.ids, password);
  await store.write(changePassword, { userId: user.id, passwordHash, session: session.id, actor });
  return { to: "/account", notice: "Your password is changed, and your other sessions have ended." };
}

async function endOther(visit: SignedInVisit): Promise<Shown> {
  const { store, user, actor, form } = visit;
  // Any text may be asked for; only the user's own are found.
  const id = requiredField(form, "session") as SessionId;
  await store.write(endSession, { id, userId: user.id, actor });
  return { to: "/account", notice: "The session has ended." };
}

const needs = "account";

/** A user's own account. */
export const accountPages = [
  ...sharedPage({ path: "/account", needs, show: accountPage }),
  ...sharedPage({ path: "/account/name", needs, act: rename, again: accountPage }),
  ...sharedPage({ path: "/account/password", needs, act: newPassword, again: accountPage }),
  ...sharedPage({ path: "/account/sessions/end", needs, act: endOther }),
  ...factorPages,
];
