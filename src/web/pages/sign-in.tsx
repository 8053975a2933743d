import { hasFactor } from "../../core/accounts/factors.ts";
import { verifyPassword } from "../../core/accounts/password.ts";
import { endSession } from "../../core/accounts/sessions.ts";
import { type SignedIn, signIn } from "../../core/accounts/sign-in.ts";
import { beginSignIn, failSignIn, refusalOf } from "../../core/accounts/sign-in-attempts.ts";
import { CodeField, PasskeyButton } from "../parts/factor.tsx";
import { Field, Form, FormProblem, Submit } from "../parts/form.tsx";
import { prove } from "../parts/step-up.tsx";
import { dropCookie, readCookie, setCookie } from "../session/cookies.ts";
import { sharedPage } from "../session/page.ts";
import { askForPasskey } from "../session/passkeys.ts";
import { type Face, field, requiredField, type Shown, type SignedInVisit, type Visit } from "../session/visit.ts";

/** Where a sign-in leads: the page that was asked for, or the overview of the face that the user's role is in. */
export function goOn(visit: Visit, { partnerId }: Pick<SignedIn, "partnerId">): { to: string; face: Face } {
  const face = partnerId === null ? "console" : "portal";
  const asked = field(visit.query, "next") || field(visit.form, "next");
  // A path of this face only, never another host.
  const isPath = face === visit.face && /^\/[\w/.?=&%-]*$/.test(asked) && !/^\/\/|\.\./.test(asked);
  return { face, to: isPath ? asked : "" };
}

/** Browser and system, as a person knows them again. */
export function agentOf({ request }: Visit): string {
  const text = request.headers["user-agent"] ?? "";
  const browser = ["Edg", "Firefox", "Chrome", "Safari", "curl"].find((name) => text.includes(name)) ?? "Other program";
  const system = ["Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux"].find((name) => text.includes(name));
  return `${browser === "Edg" ? "Edge" : browser}${system === undefined ? "" : ` on ${system}`}`;
}

/** Lets a person in who was just proved by password: a new session, in place of whatever cookie there was. */
export function letIn(visit: Visit, { token }: SignedIn): void {
  setCookie(visit.reply, "session", token);
  dropCookie(visit.reply, "visitor");
}

function signInForm(visit: Visit): Shown {
  const body = (
    <>
      <h1>Sign in</h1>
      <FormProblem visit={visit} />
      <Form visit={visit} class="narrow">
        <input type="hidden" name="next" value={field(visit.query, "next") || field(visit.form, "next")} />
        <Field visit={visit} name="email" label="E-mail address" type="email" autocomplete="username" required />
        <Field
          visit={visit}
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          required
        />
        <Submit>Sign in</Submit>
      </Form>
      <p class="hint">No access yet, or locked out? Ask the owner of your team, or the operator, for an invitation.</p>
    </>
  );
  return { title: "Sign in", body };
}

async function signInAct(visit: Visit): Promise<Shown> {
  const { form, store, request } = visit;
  const attempt = { email: requiredField(form, "email"), ip: request.ip };
  const password = typeof form.password === "string" ? form.password : "";
  const user = await store.read(beginSignIn, attempt);
  const isRight = await verifyPassword(password, user?.password_hash ?? null);
  const hash = user?.password_hash ?? null;
  const outcome =
    user !== null && hash !== null && isRight
      ? await store.write(signIn, { userId: user.id, passwordHash: hash, agent: agentOf(visit), attempt }, request.id)
      : await store.write(failSignIn, { ...attempt, userId: user?.id ?? null }, request.id);
  if ("refused" in outcome) throw refusalOf(outcome);
  letIn(visit, outcome);
  const asksFactor = user !== null && (await store.read(hasFactor, user.id));
  const { to, face } = goOn(visit, outcome);
  if (!asksFactor) return { to, face };
  return { face, to: `/sign-in/factor${to === "" ? "" : `?next=${encodeURIComponent(to)}`}` };
}

function factorForm(visit: SignedInVisit): Shown {
  const body = (
    <>
      <h1>Second factor</h1>
      <FormProblem visit={visit} />
      <Form visit={visit} class="narrow">
        <input type="hidden" name="next" value={field(visit.query, "next") || field(visit.form, "next")} />
        <CodeField visit={visit} />
        <Submit>Continue</Submit>
        <PasskeyButton visit={visit} />
      </Form>
    </>
  );
  return { title: "Second factor", body };
}

async function factorAct(visit: SignedInVisit): Promise<Shown> {
  if (field(visit.form, "passkey") === "") requiredField(visit.form, "code");
  const proved = await prove(visit);
  if ("refused" in proved) throw refusalOf(proved);
  setCookie(visit.reply, "session", proved.token);
  return goOn(visit, { partnerId: visit.session.partner_id });
}

async function signOut(visit: SignedInVisit): Promise<Shown> {
  const { store, session, user, actor } = visit;
  await store.write(endSession, { id: session.id, userId: user.id, actor });
  dropCookie(visit.reply, "session");
  return { to: "/sign-in", notice: "You are signed out." };
}

async function challenge(visit: SignedInVisit): Promise<Shown> {
  return { file: JSON.stringify(await askForPasskey(visit)), type: "application/json" };
}

/** How people get in and out: sign-in, second factor, sign-out. */
export const signInPages = [
  ...sharedPage({
    path: "/sign-in",
    needs: "visitor",
    show: (visit) =>
      readCookie(visit.request, "session") !== null && "session" in visit ? { to: "" } : signInForm(visit),
    act: signInAct,
    again: signInForm,
  }),
  ...sharedPage({ path: "/sign-in/factor", needs: "session", show: factorForm, act: factorAct }),
  ...sharedPage({ path: "/sign-out", needs: "session", act: signOut }),
  ...sharedPage({ path: "/passkeys/challenge", needs: "session", act: challenge }),
];
