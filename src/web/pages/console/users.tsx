import { listUsers } from "../../../core/accounts/list-users.ts";
import { type User, userById, userIn } from "../../../core/accounts/user.ts";
import type { UserId } from "../../../core/kernel/brand.ts";
import { requirePartner } from "../../../core/partners/partner.ts";
import { partnerRoles, staffRoles, userStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { listed } from "../../parts/list-page.tsx";
import { inviteForm, peopleColumns } from "../../parts/people-form.tsx";
import { peoplePages } from "../../parts/people-pages.tsx";
import { operatorActs } from "../../parts/person-acts.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, chosen, optionalField, partIn, type Shown } from "../../session/visit.ts";
import { historyShown } from "./history.tsx";

const STAFF = "staff";

/** Where one role of a user is shown: a user of several partners has a page for each. */
function pathOf({ id, partner }: Pick<User, "id" | "partner">): string {
  return `/users/${id}${partner === null ? "" : `?partner=${encodeURIComponent(partner)}`}`;
}

async function usersPage(visit: ConsoleVisit): Promise<Shown> {
  const { query, store } = visit;
  const [of, status] = [optionalField(query, "of"), chosen(query, "status", userStatuses)];
  const all = await store.read(listUsers, {});
  const fits = (one: User) =>
    [undefined, one.partner ?? STAFF].includes(of) && [undefined, one.status].includes(status);
  return listed(visit, {
    title: "Users",
    path: "/users",
    caption: "Users",
    columns: peopleColumns(pathOf, [{ title: "Of", cell: (one) => one.partner ?? STAFF }]),
    filters: [
      { name: "of", label: "Of", options: [STAFF, ...new Set(all.flatMap(({ partner }) => partner ?? []))] },
      { name: "status", label: "Status", options: userStatuses },
    ],
    read: async () => all.filter(fits),
    empty: "No user fits. Leave a filter out to see more.",
    above: inviteForm(visit, {
      ...{ title: "Invite staff", folded: { open: visit.problem !== null } },
      ...{ to: "/users", roles: staffRoles, role: "viewer", staff: true },
    }),
  });
}

/** A user in one role. Throws `not_found`. */
async function roleOf(q: Read, { id, slug }: { id: string; slug: string | undefined }) {
  const partnerId = slug === undefined ? null : (await requirePartner(q, slug)).id;
  // Any text may be in the address; what is no user's ID is not found.
  return { user: await userIn(q, await userById(q, id as UserId), partnerId), partnerId };
}

/** Who may sign in: invited, given roles, disabled and reset. */
export const userPages = peoplePages({
  page: (page) => consolePage({ ...page, needs: "users" }),
  path: "/users",
  list: usersPage,
  side: () => null,
  person: (visit: ConsoleVisit) => {
    const slug = optionalField(visit.form, "partner") ?? optionalField(visit.query, "partner");
    return visit.store.read(roleOf, { id: partIn(visit, "id"), slug });
  },
  place: (_visit, user) => (user === null ? "/users" : pathOf(user)),
  roles: (user) => (user === null || user.partner === null ? staffRoles : partnerRoles),
  changing: "update",
  acts: operatorActs,
  fixed: (visit, user) => user.id === visit.user.id,
  fields: (user) => [
    ["Of", user.partner ?? STAFF],
    ["Reveals identities", user.reveal ? "yes, by a grant" : "as the role says"],
  ],
  below: async (visit, user) => [
    <p class="hint">
      {user.id === visit.user.id &&
        "This is you: another admin changes your role. Password and factors are under your account. "}
      <a href={`${visit.base}/users`}>All users</a>
    </p>,
    await historyShown(visit, user.id),
  ],
});
