import { removeFromPartner, requireFactor, updateUser } from "../../../core/accounts/change-user.ts";
import { type Invited, inviteUser } from "../../../core/accounts/invite.ts";
import { readMember, readTeam, resetMember } from "../../../core/accounts/team.ts";
import type { User } from "../../../core/accounts/user.ts";
import { type AuditLine, concernedBy } from "../../../core/audit/list.ts";
import type { UserId } from "../../../core/kernel/brand.ts";
import { partnerRoles } from "../../../core/store/schema/values.ts";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { ActButton, Field, Form, Submit } from "../../parts/form.tsx";
import { asksCsv, type Column, List, listCsv, Record } from "../../parts/list.tsx";
import { Timeline } from "../../parts/timeline.tsx";
import { portalPage } from "../../session/page.ts";
import { choiceField, idIn, type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";
import { titled } from "./own-pages.tsx";

/** What each role is for, where one is chosen. */
const roleWords = [
  ["owner", "owner: everything, the team too"],
  ["developer", "developer: credentials, webhooks, events, sandbox"],
  ["agent", "agent: orders, eSIMs, activations, passports"],
  ["viewer", "viewer: reads only"],
] as const satisfies readonly (readonly [(typeof partnerRoles)[number], string])[];

const columnsOf = ({ base }: PortalVisit): Column<User>[] => [
  { title: "E-mail", cell: (one) => ({ text: one.email, href: `${base}/team/${one.id}` }) },
  { title: "Name", cell: (one) => one.name },
  { title: "Role", cell: (one) => one.role },
  { title: "Status", cell: (one) => ({ status: one.status }) },
];

async function teamPage(visit: PortalVisit): Promise<Shown> {
  const { users: rows, factorRequired } = await visit.store.read(readTeam, visit.partner.id);
  const empty = "No people yet. Invite one below.";
  const list = { visit, path: "/team", caption: "Team", columns: columnsOf(visit), rows, empty };
  if (asksCsv(visit)) return listCsv(list);
  const body = (
    <>
      <List {...list} />
      <section>
        <h2>Invite a person</h2>
        <Form visit={visit} to="/team" class="narrow">
          <Field visit={visit} name="email" label="E-mail" type="email" autocomplete="off" required />
          <Field visit={visit} name="role" label="Role" options={roleWords} value="agent" />
          <Submit>Invite</Submit>
        </Form>
      </section>
      <SecondFactor visit={visit} isRequired={factorRequired} />
    </>
  );
  return titled(visit, "Team", { body });
}

function SecondFactor({ visit, isRequired }: { visit: PortalVisit; isRequired: boolean }) {
  const [words, label, required] = isRequired
    ? ["All of the team need a second factor to sign in.", "Leave it to each person", "no"]
    : ["Each of the team decides about a second factor alone.", "All of the team need a second factor", "yes"];
  return (
    <section>
      <h2>Second factor</h2>
      <p>{words}</p>
      <ActButton visit={visit} to="/team/second-factor" label={label} hidden={{ required }} />
      {!isRequired && <p class="hint">A person without one sets it up at the next page that is opened.</p>}
    </section>
  );
}

async function invite(visit: PortalVisit): Promise<Shown> {
  const { form, store, partner, actor, request } = visit;
  const email = requiredField(form, "email");
  const role = choiceField(form, "role", partnerRoles);
  return linkShown(visit, await store.write(inviteUser, { partnerId: partner.id, email, role, actor }, request.id));
}

/** The one time that the link of an invitation is shown. */
function linkShown(visit: PortalVisit, { user, token, expires_at }: Invited): Shown {
  const body = (
    <>
      <p class="alert">
        The link is shown only now. Hand it over on a way that only this person reads: it sets the password, once.
      </p>
      <pre data-copy="" id="link">
        {`${visit.context.addresses.publicUrl}/portal/invitations/${token}`}
      </pre>
      <p>It is valid until {expires_at.slice(0, 16).replace("T", " ")} UTC.</p>
    </>
  );
  return titled(visit, `Invitation for ${user.email}`, { body, back: ["/team", "Back to the team"], secret: true });
}

async function switchFactor({ form, store, partner, actor, request }: PortalVisit): Promise<Shown> {
  const required = choiceField(form, "required", ["yes", "no"]) === "yes";
  await store.write(requireFactor, { partnerId: partner.id, required, actor }, request.id);
  const notice = required ? "All of the team need a second factor now." : "Each person decides about it now.";
  return { to: "/team", notice };
}

/** A person by the address of the page, in the role at the visitor's own partner. */
function memberIn(visit: PortalVisit) {
  return { userId: idIn<UserId>(visit), partnerId: visit.partner.id };
}

async function memberPage(visit: PortalVisit): Promise<Shown> {
  const { user, history, names } = await visit.store.read(readMember, memberIn(visit));
  const at = `/team/${user.id}`;
  const body = (
    <>
      <section>
        <Record
          visit={visit}
          fields={[
            ["E-mail", user.email],
            ["Name", user.name],
            ["Role", user.role],
            ["Status", { status: user.status }],
          ]}
        />
        <Form visit={visit} to={`${at}/role`} class="narrow">
          <Field visit={visit} name="role" label="Role" options={roleWords} value={user.role} />
          <Submit>Change the role</Submit>
        </Form>
        <div class="acts">
          {user.id !== visit.user.id && user.status !== "disabled" && (
            <ActButton visit={visit} to={`${at}/invitation`} label="New invitation" />
          )}
          <ActButton visit={visit} to={`${at}/remove`} label="Remove from the team" kind="bad" />
        </div>
        <p class="hint">
          A new invitation is for one who was locked out: password, second factor and sessions end at once.
        </p>
      </section>
      <Timeline visit={visit} moments={history.map((line) => momentOf(line, names))} />
    </>
  );
  return titled(visit, user.name ?? user.email, { body, back: ["/team", "Back to the team"] });
}

const actWords: Readonly<globalThis.Record<string, string>> = {
  "users.invite": "invited",
  "users.accept": "accepted the invitation",
  "users.update": "changed",
  "users.reset": "invited again",
  "users.sign_in": "signed in",
};

function momentOf(line: AuditLine, names: Readonly<globalThis.Record<string, string>>) {
  const who = line.actor.startsWith("user:") ? (names[line.actor.slice("user:".length)] ?? "a user") : "the operator";
  const what = [actWords[line.action] ?? line.action, ...concernedBy(line)].join(", ");
  return { at: line.at, kind: "team", text: `${what}, by ${who}` };
}

async function changeRole(visit: PortalVisit): Promise<Shown> {
  const { form, store, actor, request, user } = visit;
  const role = choiceField(form, "role", partnerRoles);
  const changed = await store.write(updateUser, { ...memberIn(visit), role, actor }, request.id);
  const notice = `${changed.email} is ${role} now.`;
  // One who is owner no more sees the team no more.
  return { to: changed.id === user.id && role !== "owner" ? "" : `/team/${changed.id}`, notice };
}

async function newInvitation(visit: PortalVisit): Promise<Shown> {
  const { store, actor, request, user } = visit;
  return linkShown(visit, await store.write(resetMember, { ...memberIn(visit), by: user.id, actor }, request.id));
}

async function remove(visit: PortalVisit): Promise<Shown> {
  const { store, actor, request } = visit;
  const member = memberIn(visit);
  const { user } = await store.read(readMember, member);
  if (isConfirmed(visit)) {
    await store.write(removeFromPartner, { ...member, actor }, request.id);
    return { to: "/team", notice: `${user.email} is removed from the team.` };
  }
  await store.rehearse(removeFromPartner, { ...member, actor });
  return consequenceShown(visit, {
    title: `Remove ${user.email}?`,
    to: `/team/${user.id}/remove`,
    carried: [],
    act: "Remove from the team",
    kind: "bad",
    back: `/team/${user.id}`,
    children: <p>All sessions of this person end at once. What was done under the name stays recorded.</p>,
  });
}

const at = "/team/:id";
const team = { needs: "team", again: teamPage, stepUp: true } as const;
const member = { needs: "team", again: memberPage, stepUp: true } as const;

export const teamPages = [
  portalPage({ path: "/team", ...team, show: teamPage, act: invite, secret: true }),
  portalPage({ path: "/team/second-factor", ...team, act: switchFactor }),
  portalPage({ path: at, needs: "team", show: memberPage }),
  portalPage({ path: `${at}/role`, ...member, act: changeRole }),
  portalPage({ path: `${at}/invitation`, ...member, act: newInvitation, secret: true }),
  portalPage({ path: `${at}/remove`, ...member, act: remove }),
];
