import { createCredential } from "../../../core/credentials/create.ts";
import { type Credential, listCredentials } from "../../../core/credentials/credential.ts";
import { revokeCredential } from "../../../core/credentials/revoke.ts";
import { rotateCredential } from "../../../core/credentials/rotate.ts";
import { environments } from "../../../core/kernel/environment.ts";
import { requirePartner } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { formShown } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { type CredentialAct, replacingSecret, revokingCredential } from "../../parts/credential-acts.ts";
import { onceShown, pageShown, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, choiceField, optionalField, type Shown } from "../../session/visit.ts";
import { credentialIn, credentialPage, placeOf } from "./partner-credential.tsx";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

async function seen(q: Read, slug: string) {
  const { name, production } = await requirePartner(q, slug);
  return { name, production, credentials: await listCredentials(q, slug) };
}

async function credentialsPage(visit: ConsoleVisit): Promise<Shown> {
  const slug = slugOf(visit);
  const { name, production, credentials } = await visit.store.read(seen, slug);
  const title = `Credentials of ${name}`;
  const kinds = production
    ? { options: environments }
    : { options: ["sandbox"], hint: "Open production in the settings first." };
  const empty = "None yet. Its owners can make one in the portal too.";
  const body = (
    <>
      <PartnerLinks visit={visit} slug={slug} />
      {table(visit, { caption: title, rows: credentials, empty }, [
        { title: "Client ID", cell: (one) => ({ text: one.client_id, to: placeOf(slug, one) }) },
        { title: "Label", cell: (one) => one.label },
        { title: "Environment", cell: (one) => one.environment },
        { title: "Status", cell: (one) => ({ status: one.status }) },
        { title: "Made", cell: (one) => ({ time: one.created_at }) },
      ])}
      {visit.may("credentials.write") &&
        formShown(visit, {
          ...{ title: "New credential", to: `/partners/${slug}/credentials`, submit: "Make a credential" },
          fields: [
            { name: "environment", label: "Environment", value: "sandbox", ...kinds },
            { name: "label", label: "Label", hint: "May be left out." },
          ],
        })}
    </>
  );
  return pageShown(visit, title, body);
}

async function create(visit: ConsoleVisit): Promise<Shown> {
  const { form } = visit;
  const live = choiceField(form, "environment", environments) === "production";
  const label = optionalField(form, "label") ?? null;
  const made = await visit.write(createCredential, { partner: slugOf(visit), live, label });
  return secretShown(visit, made, "The credential is made.");
}

/** The one time that a secret is shown. */
function secretShown(visit: ConsoleVisit, made: { client_id: string; client_secret: string }, title: string): Shown {
  return onceShown(visit, title, {
    words: "The secret is shown only now. Give it to the people of its program alone.",
    values: [
      ["client-id", "Client ID", made.client_id],
      ["client-secret", "Client secret", made.client_secret],
    ],
    back: placeOf(slugOf(visit), made),
  });
}

interface One {
  visit: ConsoleVisit;
  one: Credential;
}

const ofOne = ({ verb, button, title, words }: CredentialAct) => ({
  ...{ verb, button, bad: true },
  read: async (visit: ConsoleVisit): Promise<One> => ({ visit, one: await credentialIn(visit) }),
  at: ({ visit, one }: One) => placeOf(slugOf(visit), one),
  title: ({ one }: One) => title(one.label ?? one.client_id),
  input: (_visit: ConsoleVisit, { one }: One) => ({ clientId: one.client_id }),
  foresee: () => <p>{words}</p>,
});

const rotating = actPage({
  ...{ ...ofOne(replacingSecret), command: rotateCredential },
  done: (made, { visit }) => secretShown(visit, made, "The secret is replaced."),
});

const revoking = actPage({
  ...{ ...ofOne(revokingCredential), command: revokeCredential },
  done: () => "The credential is revoked.",
});

const at = "/partners/:slug/credentials";
const act = { needs: "credentials.write", again: credentialPage } as const;

export const partnerCredentialsPages = [
  consolePage({ path: at, needs: "partners.read", show: credentialsPage }),
  consolePage({ ...act, path: at, act: create, again: credentialsPage, secret: true, stepUp: true }),
  consolePage({ ...act, path: `${at}/:id/rotate`, ...rotating, secret: true, stepUp: true }),
  consolePage({ ...act, path: `${at}/:id/revoke`, ...revoking }),
];
