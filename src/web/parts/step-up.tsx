import { proveByCode } from "../../core/accounts/sign-in.ts";
import { type Refused, refusalOf } from "../../core/accounts/sign-in-attempts.ts";
import { setCookie } from "../session/cookies.ts";
import { CSRF_FIELD } from "../session/csrf.ts";
import { verifyPasskey } from "../session/passkeys.ts";
import { field, type Form as Sent, type Shown, type SignedInVisit, type Visit } from "../session/visit.ts";
import { CodeField, PasskeyButton } from "./factor.tsx";
import { Form, FormProblem, Submit } from "./form.tsx";

/**
 * Asks for the second factor before an act, where it was not given lately: null once it is given. People without a
 * factor act without one. The page carries the form that was sent.
 */
export async function stepUp(visit: SignedInVisit): Promise<Shown | null> {
  const { factor, form, session } = visit;
  if (!factor.has || factor.fresh) return null;
  const proof = field(form, "passkey") || field(form, "code");
  if (proof === "") return asked(visit);
  const proved = await prove(visit);
  if ("refused" in proved) return asked({ ...visit, problem: refusalOf(proved) });
  setCookie(visit.reply, "session", proved.token);
  session.factor_at = visit.context.clock.now();
  return null;
}

/** Proves a session's second factor by the code or the passkey of a form. */
export async function prove(visit: SignedInVisit): Promise<{ token: string } | Refused> {
  const { form, session, user, request, store } = visit;
  const attempt = { email: user.email, ip: request.ip };
  if (field(form, "passkey") !== "") return verifyPasskey(visit, field(form, "passkey"));
  return store.write(proveByCode, { session, code: field(form, "code"), attempt }, request.id);
}

function asked(visit: SignedInVisit & Pick<Visit, "problem">): Shown {
  const title = "Confirm that it is you";
  const body = (
    <>
      <h1>{title}</h1>
      <p>What you are about to do asks for your second factor again.</p>
      <FormProblem visit={visit} />
      <Form visit={visit} class="narrow">
        <Carried form={visit.form} />
        <CodeField visit={visit} />
        <Submit>Confirm</Submit>
        <PasskeyButton visit={visit} />
      </Form>
    </>
  );
  return { title, body, status: visit.problem?.status ?? 403 };
}

/** What is not carried: a secret is typed again rather than put into a page. */
const own = new Set([CSRF_FIELD, "code", "passkey", "secret"]);

/** The fields of the form that was sent, to be sent again. */
function Carried({ form }: { form: Sent }) {
  const all = Object.entries(form).flatMap(([name, value]) =>
    own.has(name) ? [] : [value].flat().flatMap((one) => (typeof one === "string" ? [[name, one] as const] : [])),
  );
  return (
    <>
      {all.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
