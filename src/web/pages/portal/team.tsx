import { removeFromPartner, requireFactor } from "../../../core/accounts/change-user.ts";
import { readMember, readTeam, resetMember } from "../../../core/accounts/team.ts";
import { type AuditLine, concernedBy } from "../../../core/audit/list.ts";
import type { PartnerId, UserId } from "../../../core/kernel/brand.ts";
import type { partnerRoles } from "../../../core/store/schema/values.ts";
import { ActButton } from "../../parts/form.tsx";
import { listed } from "../../parts/list-page.tsx";
import { inviteForm, peopleColumns } from "../../parts/people-form.tsx";
import { peoplePages } from "../../parts/people-pages.tsx";
import { invitedAgain, type PersonAct } from "../../parts/person-acts.ts";
import { backLink } from "../../parts/shown.tsx";
import { Timeline } from "../../parts/timeline.tsx";
import { portalPage } from "../../session/page.ts";
import { choiceField, idIn, type PortalVisit, type Shown } from "../../session/visit.ts";

/** What each role is for, where one is chosen. */
const roleWords = [
  ["owner", "owner: everything, the team too"],
  ["developer", "developer: credentials, webhooks, events, sandbox"],
  ["agent", "agent: orders, eSIMs, activations, passports"],
  ["viewer", "viewer: reads only"],
] as const satisfies readonly (readonly [(typeof partnerRoles)[number], string])[];

async function teamPage(visit: PortalVisit): Promise<Shown> {
  const { users, factorRequired } = await visit.store.read(readTeam, visit.partner.id);
  return listed(visit, {
    ...{ path: "/team", title: "Team", columns: peopleColumns(({ id }) => `/team/${id}`) },
    read: async () => users,
    empty: "No people yet. Invite one below.",
    below: [
      inviteForm(visit, { title: "Invite a person", to: "/team", roles: roleWords, role: "agent" }),
      <SecondFactor visit={visit} isRequired={factorRequired} />,
    ],
  });
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

async function switchFactor({ form, write, partner }: PortalVisit): Promise<Shown> {
  const required = choiceField(form, "required", ["yes", "no"]) === "yes";
  await write(requireFactor, { partnerId: partner.id, required });
  const notice = required ? "All of the team need a second factor now." : "Each person decides about it now.";
  return { to: "/team", notice };
}

/** The person of the team that the address names, with what was done to this person. Throws `not_found`. */
async function memberIn(visit: PortalVisit) {
  const partnerId = visit.partner.id;
  return { partnerId, ...(await visit.store.read(readMember, { userId: idIn<UserId>(visit), partnerId })) };
}

const removed = "All sessions of this person end at once. What was done under the name stays recorded.";

const acts: readonly PersonAct<PartnerId>[] = [
  {
    ...{ verb: "invitation", label: "New invitation", question: "Give a new invitation to", asks: invitedAgain },
    ...{ command: resetMember, done: "is invited again" },
    offered: (user, visit) => user.id !== visit.user.id && user.status !== "disabled",
  },
  {
    ...{ verb: "remove", label: "Remove from the team", bad: true, asks: removed, offered: () => true, leaves: true },
    ...{ command: removeFromPartner, done: "is removed from the team" },
  },
];

async function historyShown(visit: PortalVisit) {
  const { history, names } = await memberIn(visit);
  return [
    <p class="hint">A new invitation is for one who was locked out.</p>,
    <Timeline visit={visit} moments={history.map((line) => momentOf(line, names))} />,
    backLink(visit, "/team", "Back to the team"),
  ];
}

const actWords: Readonly<Record<string, string>> = {
  "users.invite": "invited",
  "users.accept": "accepted the invitation",
  "users.update": "changed",
  "users.reset": "invited again",
  "users.sign_in": "signed in",
};

function momentOf(line: AuditLine, names: Readonly<Record<string, string>>) {
  const who = line.actor.startsWith("user:") ? (names[line.actor.slice("user:".length)] ?? "a user") : "the operator";
  const what = [actWords[line.action] ?? line.action, ...concernedBy(line)].join(", ");
  return { at: line.at, kind: "team", text: `${what}, by ${who}` };
}

export const teamPages = [
  ...peoplePages({
    page: (page) => portalPage({ ...page, needs: "team" }),
    ...{ path: "/team", list: teamPage, person: memberIn, changing: "role", acts },
    side: (visit) => visit.partner.id,
    place: (_visit, user) => (user === null ? "/team" : `/team/${user.id}`),
    roles: () => roleWords,
    below: historyShown,
    // One who is owner no more sees the team no more.
    next: (visit, { id, role }) => (id === visit.user.id && role !== "owner" ? "" : `/team/${id}`),
  }),
  portalPage({ path: "/team/second-factor", needs: "team", act: switchFactor, again: teamPage, stepUp: true }),
];
