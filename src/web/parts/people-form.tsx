import type { User } from "../../core/accounts/user.ts";
import { choiceField, type SignedInVisit } from "../session/visit.ts";
import { type FieldOf, type FormOf, formShown } from "./act-form.tsx";
import type { Column } from "./list.tsx";

/** The roles of one side, with words where they have some. */
export type Roles = readonly (string | readonly [role: string, words: string])[];

/** Columns of a list of people, each with a link to the person under the face's base. */
export function peopleColumns(pathOf: (user: User) => string, more: readonly Column<User>[] = []): Column<User>[] {
  return [
    { title: "E-mail", cell: (one) => ({ text: one.email, to: pathOf(one) }) },
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

interface Inviting extends Pick<FormOf, "title" | "to" | "folded"> {
  roles: Roles;
  /** The role that is chosen unless another is. */
  role: string;
  /** With the grant to reveal. */
  staff?: boolean;
}

/** The form that invites a person. */
export function inviteForm(visit: SignedInVisit, { roles, role, staff, ...form }: Inviting) {
  return formShown(visit, {
    ...form,
    fields: [
      { name: "email", label: "E-mail", type: "email", inputmode: "email", autocomplete: "off", required: true },
      { name: "role", label: "Role", options: roles, value: role },
      staff === true && reveal(null),
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
