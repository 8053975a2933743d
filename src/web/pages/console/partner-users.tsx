import { listUsers } from "../../../core/accounts/list-users.ts";
import { userById, userIn } from "../../../core/accounts/user.ts";
import type { UserId } from "../../../core/kernel/brand.ts";
import { requirePartner } from "../../../core/partners/partner.ts";
import { partnerRoles } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { inviteForm, peopleColumns } from "../../parts/people-form.tsx";
import { peoplePages } from "../../parts/people-pages.tsx";
import { operatorActs } from "../../parts/person-acts.ts";
import { pageShown, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn, type Shown } from "../../session/visit.ts";
import { historyShown } from "./history.tsx";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

async function people(q: Read, slug: string) {
  const { id, name } = await requirePartner(q, slug);
  return { name, users: await listUsers(q, { partnerId: id }) };
}

const placeOf = (visit: ConsoleVisit) => `/partners/${slugOf(visit)}/users`;

async function usersPage(visit: ConsoleVisit): Promise<Shown> {
  const { name, users } = await visit.store.read(people, slugOf(visit));
  const [title, at] = [`People of ${name}`, placeOf(visit)];
  const empty = "No one has access to its portal yet. Invite an owner first.";
  const body = (
    <>
      <PartnerLinks visit={visit} slug={slugOf(visit)} />
      {table(
        visit,
        { caption: title, rows: users, empty },
        peopleColumns(({ id }) => `${at}/${id}`),
      )}
      {inviteForm(visit, { title: "Invite a person", to: at, roles: partnerRoles, role: "owner" })}
    </>
  );
  return pageShown(visit, title, body);
}

/** The person that the address names, in the role at the partner that it names. Throws `not_found`. */
async function personIn(q: Read, { slug, userId }: { slug: string; userId: UserId }) {
  const { id: partnerId } = await requirePartner(q, slug);
  return { partnerId, user: await userIn(q, await userById(q, userId), partnerId) };
}

export const partnerUsersPages = peoplePages({
  page: (page) => consolePage({ ...page, needs: "users" }),
  path: "/partners/:slug/users",
  list: usersPage,
  side: async (visit) => (await visit.store.read(requirePartner, slugOf(visit))).id,
  person: (visit: ConsoleVisit) => {
    const userId = partIn(visit, "id") as UserId; // the database decides whether it is one
    return visit.store.read(personIn, { slug: slugOf(visit), userId });
  },
  place: (visit, user) => `${placeOf(visit)}${user === null ? "" : `/${user.id}`}`,
  roles: () => partnerRoles,
  changing: "role",
  acts: operatorActs,
  below: async (visit, user) => [
    await historyShown(visit, user.id),
    <PartnerLinks visit={visit} slug={slugOf(visit)} />,
  ],
});
