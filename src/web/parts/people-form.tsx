import type { User } from "../../core/accounts/user.ts";
import { choiceField, type SignedInVisit } from "../session/visit.ts";
import { type FieldOf, formShown } from "./act-form.tsx";
import type { Column } from "./list.tsx";

/** The roles of one side, with words where they have some. */
export type Roles = readonly (string | readonly [role: string, words: string])[];

/** Columns of a list of people. */
export function peopleColumns(linkOf: (user: User) => string, more: readonly Column<User>[] = []): Column<User>[] {
  return [
    { title: "E-mail", cell: (one) => ({ text: one.email, href: linkOf(one) }) },
    { title: "Name", cell: (one) => one.name },
    ...more,
    { title: "Role", cell: (one) => (one.reveal ? `${one.role}, reveals` : one.role) },
    { title: "Status", cell: (one) => ({ status: one.status }) },
  ];
}

/** The box that grants a member of staff to reveal identities. */
export const reveal = (user: User | null): FieldOf => {
  return { tick: "reveal", label: "May reveal identities, whatever the role", checked: user?.reveal === true };
};

/** The form that invites a person: of staff with the grant to reveal. */
export function inviteForm(visit: SignedInVisit, given: { to: string; roles: Roles; role: string; staff?: true }) {
  return formShown(visit, {
    to: given.to,
    fields: [
      { name: "email", label: "E-mail", type: "email", inputmode: "email", autocomplete: "off", required: true },
      { name: "role", label: "Role", options: given.roles, value: given.role },
      given.staff === true && reveal(null),
    ],
    submit: "Invite",
  });
}

/** The role that a form gives, of those that there are. Throws `validation`. */
export function roleIn({ form }: SignedInVisit, roles: Roles): string {
  return choiceField(
    form,
    "role",
    roles.map((role) => (typeof role === "string" ? role : role[0])),
  );
}
