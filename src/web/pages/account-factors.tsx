import type { ComponentChildren } from "preact";
import QRCode from "qrcode";
import {
  beginTotp,
  begunTotp,
  confirmTotp,
  type Factors,
  factorsOf,
  removeFactor,
  renewRecoveryCodes,
} from "../../core/accounts/factors.ts";
import { keepProof } from "../../core/accounts/sessions.ts";
import type { FactorId } from "../../core/kernel/brand.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { type FieldOf, formShown } from "../parts/act-form.tsx";
import { ActButton, Field, Form } from "../parts/form.tsx";
import { backLink, pageShown } from "../parts/shown.tsx";
import { setCookie } from "../session/cookies.ts";
import { sharedPage } from "../session/page.ts";
import { offerPasskey, takePasskey } from "../session/passkeys.ts";
import { field, requiredField, type Shown, type SignedInVisit } from "../session/visit.ts";

/** Changing factors asks for a second factor, once there is one: also in a session that is not fresh. */
function requireProof({ factor, session }: SignedInVisit): void {
  if (factor.has && session.factor_at === null) throw new Problem("forbidden", "Give your second factor first.");
}

async function factorsPage(visit: SignedInVisit): Promise<Shown> {
  requireProof(visit);
  const { store, user, factor } = visit;
  const own = await store.read(factorsOf, user.id);
  const body = (
    <>
      {factor.must && !factor.has && (
        <p class="alert">You must have a second factor. Set one up to go on: a passkey, or an app that makes codes.</p>
      )}
      {ownFactors(visit, own)}
      <section>
        <h2>Authenticator app</h2>
        {appSetup(visit, await appBegun(visit))}
      </section>
      <section>
        <h2>Passkey</h2>
        <p class="hint">A phone, a security key or this computer proves that it is you. Needs JavaScript.</p>
        <Form visit={visit} to="/account/factors/passkey" class="narrow">
          <Field visit={visit} name="label" label="Name of the passkey" value="Passkey" />
          <input type="hidden" name="attestation" value="" />
          <button type="button" data-new-passkey={`${visit.base}/account/factors/passkey/options`} hidden>
            Add a passkey
          </button>
        </Form>
      </section>
    </>
  );
  return pageShown(visit, "Second factor", body);
}

function ownFactors(visit: SignedInVisit, own: Factors): ComponentChildren {
  if (own.factors.length === 0) return null;
  return (
    <section>
      <h2>What you have</h2>
      <ul class="plain">
        {own.factors.map(({ id, label, kind, created_at }) => (
          <li>
            {label} ({kind}), since {created_at.slice(0, 10)}{" "}
            <ActButton visit={visit} to="/account/factors/remove" label={`Remove ${label}`} hidden={{ factor: id }} />
          </li>
        ))}
      </ul>
      <p>
        {own.recoveryCodes} recovery codes are left.{" "}
        <ActButton visit={visit} to="/account/factors/codes" label="Make new recovery codes" />
      </p>
    </section>
  );
}

interface Begun {
  address: string;
  qr: string;
}

async function appBegun({ store, user }: SignedInVisit): Promise<Begun | null> {
  const begun = await store.read(begunTotp, { userId: user.id, email: user.email });
  return begun === null ? null : { ...begun, qr: await QRCode.toDataURL(begun.address, { margin: 2, width: 220 }) };
}

const code: FieldOf = {
  ...{ name: "code", label: "Code", required: true },
  ...{ autocomplete: "one-time-code", inputmode: "numeric" },
};

function appSetup(visit: SignedInVisit, begun: Begun | null): ComponentChildren {
  if (begun === null) {
    return <ActButton visit={visit} to="/account/factors/app" label="Set up an authenticator app" />;
  }
  return (
    <>
      <p>Scan this with your app, or open the address on the phone; then type the code that the app shows.</p>
      <img src={begun.qr} alt="QR code of the address below" width={220} height={220} class="qr" />
      <p>
        <code class="wrap">{begun.address}</code>
      </p>
      {formShown(visit, { to: "/account/factors/app/confirm", fields: [code], submit: "Confirm" })}
    </>
  );
}

async function beginApp(visit: SignedInVisit): Promise<Shown> {
  requireProof(visit);
  await visit.store.write(beginTotp, { userId: visit.user.id, email: visit.user.email });
  return { to: "/account/factors" };
}

async function confirmApp(visit: SignedInVisit): Promise<Shown> {
  requireProof(visit);
  const { store, user, actor, form, request } = visit;
  const asked = { userId: user.id, code: requiredField(form, "code"), actor };
  return added(visit, await store.write(confirmTotp, asked, request.id), "The app is your second factor now.");
}

async function addKey(visit: SignedInVisit): Promise<Shown> {
  requireProof(visit);
  const codes = await takePasskey(visit, requiredField(visit.form, "attestation"), field(visit.form, "label"));
  return added(visit, codes, "The passkey is a second factor now.");
}

/** The session has its second factor: by the one that was just added. */
async function added(visit: SignedInVisit, codes: string[], words: string): Promise<Shown> {
  setCookie(visit.reply, "session", await visit.store.write(keepProof, visit.session.id));
  return codes.length === 0 ? { to: "/account/factors", notice: words } : codesShown(visit, codes, words);
}

function codesShown(visit: SignedInVisit, codes: readonly string[], words: string): Shown {
  const body = (
    <>
      <p class="alert good">{words}</p>
      <p>Each of these codes signs you in once, should you lose your second factor. They are shown only now.</p>
      <pre data-copy="">{codes.join("\n")}</pre>
      {backLink(visit, "", "Continue")}
    </>
  );
  return { ...pageShown(visit, "Recovery codes", body), secret: true };
}

async function newCodes(visit: SignedInVisit): Promise<Shown> {
  const { store, user, actor } = visit;
  const codes = await store.write(renewRecoveryCodes, { userId: user.id, actor });
  return codesShown(visit, codes, "The codes before are worth nothing any more.");
}

async function remove(visit: SignedInVisit): Promise<Shown> {
  const { store, user, actor, form, factor } = visit;
  // Any text may be asked for; only the user's own are found.
  const id = requiredField(form, "factor") as FactorId;
  await store.write(removeFactor, { userId: user.id, id, mustHave: factor.must, actor });
  return { to: "/account/factors", notice: "The factor is removed." };
}

async function offer(visit: SignedInVisit): Promise<Shown> {
  requireProof(visit);
  return { file: JSON.stringify(await offerPasskey(visit)), type: "application/json" };
}

const at = "/account/factors";
const setUp = { needs: "session", again: factorsPage } as const;

/** Factors can be set up before there is one; what changes them asks for one again. */
export const factorPages = [
  ...sharedPage({ path: at, needs: "session", show: factorsPage, secret: true }),
  ...sharedPage({ ...setUp, path: `${at}/app`, act: beginApp, stepUp: true }),
  ...sharedPage({ ...setUp, path: `${at}/app/confirm`, act: confirmApp, secret: true }),
  ...sharedPage({ path: `${at}/passkey/options`, needs: "session", act: offer }),
  ...sharedPage({ ...setUp, path: `${at}/passkey`, act: addKey, stepUp: true, secret: true }),
  ...sharedPage({ path: `${at}/codes`, needs: "account", act: newCodes, stepUp: true, secret: true }),
  ...sharedPage({ path: `${at}/remove`, needs: "account", act: remove, again: factorsPage, stepUp: true }),
];
