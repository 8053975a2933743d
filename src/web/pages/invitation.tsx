import { acceptInvitation, findInvitation, type OpenInvitation } from "../../core/accounts/accept-invitation.ts";
import { hashPassword, requirePassword, verifyPassword } from "../../core/accounts/password.ts";
import { enterInvited } from "../../core/accounts/sign-in.ts";
import { beginSignIn, failSignIn, refusalOf } from "../../core/accounts/sign-in-attempts.ts";
import { Field, Form, FormProblem, Submit } from "../parts/form.tsx";
import { sharedPage } from "../session/page.ts";
import { field, requiredField, type Shown, type Visit } from "../session/visit.ts";
import { agentOf, goOn, letIn } from "./sign-in.tsx";

function tokenOf({ request }: Visit): string {
  return field((request.params ?? {}) as Visit["form"], "token");
}

/** Runs with the invitation that the address names. Unknown ones and those that were used have the same answer. */
async function withInvitation(visit: Visit, run: (found: OpenInvitation) => Shown | Promise<Shown>): Promise<Shown> {
  const found = await visit.store.read(findInvitation, tokenOf(visit));
  if (found !== null) return run(found);
  const body = (
    <>
      <h1>This invitation is over</h1>
      <p>It was used, or has ended, or a newer one took its place. A link works once.</p>
      <p>
        If you have a password, <a href={`${visit.base}/sign-in`}>sign in</a>. If not, ask the owner of your team, or
        the operator, for a new invitation.
      </p>
    </>
  );
  return { title: "Invitation", body, status: 404 };
}

function invitationForm(visit: Visit, { user, email }: OpenInvitation): Shown {
  const isNew = user.status === "invited";
  const body = (
    <>
      <h1>Welcome</h1>
      <p>
        This invitation is for <strong>{email}</strong>. It is valid once.
      </p>
      <FormProblem visit={visit} />
      <Form visit={visit} class="narrow">
        <input type="hidden" name="username" autocomplete="username" value={email} />
        {isNew && <Field visit={visit} name="name" label="Your name" autocomplete="name" required />}
        <Field
          visit={visit}
          name="password"
          label={isNew ? "Password" : "Your password"}
          type="password"
          autocomplete={isNew ? "new-password" : "current-password"}
          required
          {...(isNew ? { hint: "At least 12 characters; not one that many people use." } : {})}
        />
        <Submit>{isNew ? "Create the account" : "Accept"}</Submit>
      </Form>
    </>
  );
  return { title: "Invitation", body };
}

async function invitationAct(visit: Visit, { user, email }: OpenInvitation): Promise<Shown> {
  const { form, store, context, request } = visit;
  const password = typeof form.password === "string" ? form.password : "";
  const token = tokenOf(visit);
  if (user.status === "invited") {
    const name = requiredField(form, "name");
    await requirePassword(password);
    const passwordHash = await hashPassword(context.ids, password);
    const accepted = await store.write(acceptInvitation, { token, name, passwordHash }, request.id);
    letIn(visit, await store.write(enterInvited, { ...accepted, agent: agentOf(visit) }, request.id));
    return goOn(visit, accepted);
  }
  const attempt = { email, ip: request.ip };
  await store.read(beginSignIn, attempt);
  if (!(await verifyPassword(password, user.password_hash))) {
    throw refusalOf(await store.write(failSignIn, { ...attempt, userId: user.id }, request.id));
  }
  const accepted = await store.write(acceptInvitation, { token, name: null, passwordHash: null }, request.id);
  letIn(visit, await store.write(enterInvited, { ...accepted, agent: agentOf(visit) }, request.id));
  return goOn(visit, accepted);
}

/** How a person who was invited gets a password, and in. */
export const invitationPages = sharedPage({
  path: "/invitations/:token",
  needs: "visitor",
  show: (visit) => withInvitation(visit, (found) => invitationForm(visit, found)),
  act: (visit) => withInvitation(visit, (found) => invitationAct(visit, found)),
});
