import {
  createOwnCredential,
  deleteOwnCredential,
  listOwnCredentials,
  type Manager,
  type OwnCredential,
  rotateOwnCredential,
} from "../../../core/credentials/own.ts";
import { environments } from "../../../core/kernel/environment.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import type { Command } from "../../../core/store/store.ts";
import { formShown } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { type CredentialAct, replacingSecret, revokingCredential } from "../../parts/credential-acts.ts";
import { ActButton } from "../../parts/form.tsx";
import { backLink, pageShown, table } from "../../parts/shown.tsx";
import { portalPage } from "../../session/page.ts";
import { choiceField, idIn, optionalField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { historyShown } from "./history.tsx";
import { secretShown } from "./own-pages.ts";

/** A user manages the credentials of both environments. */
function managerOf({ owner, partner, actor }: PortalVisit) {
  const environment = partner.production ? "production" : "sandbox";
  return { owner: { ...owner, environment }, credential: null, actor } as const;
}

async function ownCredentials(visit: PortalVisit) {
  const { owner } = managerOf(visit);
  return (await visit.store.read(listOwnCredentials, { owner, limit: 1_000 })).data;
}

const tools = [
  ["webhooks", "Webhooks", "endpoints, their health and their deliveries"],
  ["events", "Events", "everything that happened, with its body"],
  ["sandbox", "Sandbox", "a clock to advance, reports on eSIMs, and scenarios"],
  ["refused", "Refused requests", "those of the last 24 hours, and why"],
] as const;

async function developersPage(visit: PortalVisit): Promise<Shown> {
  const rows = await ownCredentials(visit);
  const choice = visit.partner.production
    ? { options: environments }
    : { options: ["sandbox"], hint: "The operator opens production for you." };
  return pageShown(visit, "Developers", [
    <section>
      <h2>Tools</h2>
      <ul>
        {tools.map(([path, name, words]) => (
          <li>
            <a href={`${visit.base}/developers/${path}`}>{name}</a>: {words}
          </li>
        ))}
      </ul>
    </section>,
    table(visit, { title: "Credentials", rows, empty: "None yet: make one in the sandbox first." }, [
      { title: "Client ID", cell: ({ client_id: id }) => ({ text: id, to: `/developers/credentials/${id}` }) },
      { title: "Label", cell: (one) => one.description },
      { title: "Environment", cell: (one) => one.environment },
      { title: "Status", cell: (one) => ({ status: one.status }) },
      { title: "Made", cell: (one) => ({ time: one.created_at }) },
    ]),
    visit.may("developers.write") &&
      formShown(visit, {
        ...{ title: "New credential", to: "/developers", submit: "Make a credential" },
        fields: [
          { name: "environment", label: "Environment", value: "sandbox", ...choice },
          { name: "label", label: "Label", hint: "So that you know it again; may be left out." },
        ],
      }),
    <section>
      <h2>The API</h2>
      <p>
        <a href={visit.context.addresses.docsUrl}>Reference</a> and guides. Orders, eSIMs and events by program.
      </p>
    </section>,
  ]);
}

async function create(visit: PortalVisit): Promise<Shown> {
  const environment = choiceField(visit.form, "environment", environments);
  const asked = { manager: managerOf(visit), environment, description: optionalField(visit.form, "label") ?? null };
  return clientShown(visit, await visit.store.write(createOwnCredential, asked, visit.request.id), "made");
}

type Made = Awaited<ReturnType<typeof createOwnCredential | typeof rotateOwnCredential>>;

function clientShown(visit: PortalVisit, made: Pick<Made, "client_id" | "client_secret">, done: "made" | "replaced") {
  return secretShown(visit, `The ${done === "made" ? "credential" : "secret"} is ${done}.`, {
    values: [
      ["client-id", "Client ID", made.client_id],
      ["client-secret", "Client secret", made.client_secret],
    ],
    back: "/developers",
  });
}

const placeOf = (clientId: string) => `/developers/credentials/${clientId}`;

/** The credential that the address names. Throws `not_found`. */
async function credentialIn(visit: PortalVisit): Promise<OwnCredential> {
  const one = (await ownCredentials(visit)).find(({ client_id }) => client_id === idIn(visit));
  if (one === undefined) throw notFound("credential");
  return one;
}

async function credentialPage(visit: PortalVisit): Promise<Shown> {
  const one = await credentialIn(visit);
  const path = placeOf(one.client_id);
  const body = (
    <section>
      <p>
        <code class="wrap">{one.client_id}</code>, {one.environment}
      </p>
      <p>May: {one.scopes.join(", ")}</p>
      {visit.may("developers.write") && one.status === "active" && (
        <div class="acts">
          <ActButton visit={visit} to={`${path}/rotate`} label="Replace the secret" />
          <ActButton visit={visit} to={`${path}/revoke`} label="Revoke" kind="bad" />
        </div>
      )}
    </section>
  );
  return pageShown(visit, one.description ?? "Credential", [
    body,
    await historyShown(visit, { id: one.client_id, operator: true }),
    backLink(visit, "/developers", "All credentials"),
  ]);
}

interface Acting<R> {
  command: Command<{ manager: Manager; clientId: string }, R>;
  done(result: R): Shown;
}

/** Acts on a credential, once its consequence was seen. */
async function act<R>(
  visit: PortalVisit,
  { verb, button, title, words }: CredentialAct,
  of: Acting<R>,
): Promise<Shown> {
  const { store, request } = visit;
  const { client_id: clientId, description } = await credentialIn(visit);
  const input = { manager: managerOf(visit), clientId };
  if (isConfirmed(visit)) return of.done(await store.write(of.command, input, request.id));
  await store.rehearse(of.command, input);
  const back = placeOf(clientId);
  return consequenceShown(visit, {
    ...{ title: title(description ?? clientId), to: `${back}/${verb}`, carried: [], act: button, kind: "bad", back },
    children: <p>{words}</p>,
  });
}

function rotate(visit: PortalVisit): Promise<Shown> {
  const done = (made: Made) => clientShown(visit, made, "replaced");
  return act(visit, replacingSecret, { command: rotateOwnCredential, done });
}

function revoke(visit: PortalVisit): Promise<Shown> {
  const done = () => ({ to: "/developers", notice: "The credential is revoked." });
  return act(visit, revokingCredential, { command: deleteOwnCredential, done });
}

const at = placeOf(":id");
const write = { needs: "developers.write", again: credentialPage } as const;

export const developerPages = [
  portalPage({ path: "/developers", needs: "developers.read", show: developersPage }),
  portalPage({ path: "/developers", needs: "developers.write", act: create, again: developersPage, secret: true }),
  portalPage({ path: at, needs: "developers.read", show: credentialPage }),
  portalPage({ path: `${at}/rotate`, ...write, act: rotate, secret: true }),
  portalPage({ path: `${at}/revoke`, ...write, act: revoke }),
];
