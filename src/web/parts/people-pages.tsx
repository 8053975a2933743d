import type { ComponentChildren } from "preact";
import { updateUser } from "../../core/accounts/change-user.ts";
import { type Invited, inviteUser } from "../../core/accounts/invite.ts";
import type { User } from "../../core/accounts/user.ts";
import type { PartnerId } from "../../core/kernel/brand.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { PageOf, RegisteredPage } from "../session/page.ts";
import { field, requiredField, type Shown, type SignedInVisit } from "../session/visit.ts";
import { formShown } from "./act-form.tsx";
import { consequenceShown, isConfirmed } from "./consequence.tsx";
import { ActButton } from "./form.tsx";
import { Record } from "./list.tsx";
import { type Roles, reveal, roleIn } from "./people-form.tsx";
import type { PersonAct } from "./person-acts.ts";
import { onceShown, pageShown } from "./shown.tsx";
import type { Cell } from "./words.ts";

/** People of one side, with what may be changed of them. */
export interface PeopleOf<V extends SignedInVisit, N extends PartnerId | null> {
  /** Makes a page of the face, with what it needs. */
  page(page: Omit<PageOf<V>, "needs">): RegisteredPage;
  /** The list's path, as Fastify writes it. */
  path: string;
  list(visit: V): Promise<Shown>;
  /** Of which partner those are who are invited. */
  side(visit: V): Promise<N> | N;
  /** The person that the address names, in the role on that side. Throws `not_found`. */
  person(visit: V): Promise<{ user: User; partnerId: N }>;
  /** Where a person, or all of them, are shown, under the face's base. */
  place(visit: V, user: User | null): string;
  roles(user: User | null): Roles;
  /** The end of the address at which a role is changed. */
  changing: string;
  acts: readonly PersonAct<N>[];
  /** What else there is of a person. */
  fields?(user: User): readonly (readonly [string, Cell])[];
  below?(visit: V, user: User): Promise<ComponentChildren> | ComponentChildren;
  /** Where one goes on after a role was changed; left out: to the person. */
  next?(visit: V, user: User): string;
  /** Whether a person cannot be changed by this visitor: nothing is offered then. */
  fixed?(visit: V, user: User): boolean;
}

/** The list, the invitation, a person and all that is done to one. Every change asks for a fresh second factor. */
export function peoplePages<V extends SignedInVisit, N extends PartnerId | null>(
  people: PeopleOf<V, N>,
): RegisteredPage[] {
  const { page, path, list } = people;
  const show = (visit: V) => personShown(people, visit);
  const change = { again: show, stepUp: true } as const;
  return [
    page({ path, show: list }),
    page({ path, act: (visit) => invite(people, visit), again: list, stepUp: true, secret: true }),
    page({ path: `${path}/:id`, show }),
    page({ ...change, path: `${path}/:id/${people.changing}`, act: (visit) => changeRole(people, visit) }),
    ...people.acts.map((one) =>
      page({ ...change, path: `${path}/:id/${one.verb}`, act: (visit) => act(people, one, visit), secret: true }),
    ),
  ];
}

async function invite<V extends SignedInVisit, N extends PartnerId | null>(
  people: PeopleOf<V, N>,
  visit: V,
): Promise<Shown> {
  const { form, store, actor, request } = visit;
  const partnerId = await people.side(visit);
  const asked = { email: requiredField(form, "email"), role: roleIn(visit, people.roles(null)), partnerId, actor };
  const granted = partnerId === null ? { reveal: field(form, "reveal") !== "" } : {};
  const invited = await store.write(inviteUser, { ...asked, ...granted }, request.id);
  return linkShown(visit, invited, people.place(visit, invited.user));
}

/** The one time that an invitation's link is shown. */
function linkShown(visit: SignedInVisit, { user, token, expires_at }: Invited, back: string): Shown {
  const at = `${visit.context.addresses.publicUrl}/${user.partner === null ? "console" : "portal"}`;
  const until = `${expires_at.slice(0, 16).replace("T", " ")} UTC`;
  const words = "The link is shown only now. Hand it over on a way that only this person reads: it sets the password";
  return onceShown(visit, `${withoutHidden(user.email)} is invited.`, {
    words: `${words}, once, until ${until}.`,
    values: [["link", "Link", `${at}/invitations/${token}`]],
    back,
  });
}

/** The field that names the partner at which a person has the role. */
const PARTNER = "partner";

const pathOf = (place: string) => place.split("?", 1)[0] ?? "";

async function personShown<V extends SignedInVisit, N extends PartnerId | null>(
  people: PeopleOf<V, N>,
  visit: V,
): Promise<Shown> {
  const { user } = await people.person(visit);
  const at = pathOf(people.place(visit, user));
  const hidden: { [name: string]: string } = user.partner === null ? {} : { [PARTNER]: user.partner };
  const isFixed = people.fixed?.(visit, user) === true;
  const offered = isFixed ? [] : people.acts.filter((one) => one.offered(user, visit));
  const fields: (readonly [string, Cell])[] = [
    ["E-mail", user.email],
    ["Name", user.name],
    ["Role", user.role],
    ...(people.fields?.(user) ?? []),
    ["Status", { status: user.status }],
    ["ID", user.id],
  ];
  const body = (
    <>
      <section>
        <Record visit={visit} fields={fields} />
        <div class="acts">
          {offered.map(({ verb, label, bad }) => (
            <ActButton visit={visit} to={`${at}/${verb}`} label={label} kind={bad ? "bad" : "plain"} hidden={hidden} />
          ))}
        </div>
      </section>
      {!isFixed &&
        formShown(visit, {
          ...{ title: "Role", to: `${at}/${people.changing}`, hidden, submit: "Change" },
          fields: [
            { name: "role", label: "Role", options: people.roles(user), value: user.role },
            user.partner === null && reveal(user),
          ],
        })}
      {await people.below?.(visit, user)}
    </>
  );
  return pageShown(visit, withoutHidden(user.name ?? user.email), body);
}

async function changeRole<V extends SignedInVisit, N extends PartnerId | null>(
  people: PeopleOf<V, N>,
  visit: V,
): Promise<Shown> {
  const { form, store, actor, request } = visit;
  const { user, partnerId } = await people.person(visit);
  const role = roleIn(visit, people.roles(user));
  const granted = partnerId === null ? { reveal: field(form, "reveal") !== "" } : {};
  const changed = await store.write(updateUser, { userId: user.id, partnerId, role, ...granted, actor }, request.id);
  const to = people.next?.(visit, changed) ?? people.place(visit, changed);
  return { to, notice: `${user.email} is ${role} now.` };
}

async function act<V extends SignedInVisit, N extends PartnerId | null>(
  people: PeopleOf<V, N>,
  { verb, label, bad, asks, question = label.split(" ", 1)[0], command, done, leaves }: PersonAct<N>,
  visit: V,
): Promise<Shown> {
  const { store, actor, request } = visit;
  const { user, partnerId } = await people.person(visit);
  const input = { userId: user.id, partnerId, by: visit.user.id, actor };
  const back = people.place(visit, user);
  if (asks !== undefined && !isConfirmed(visit)) {
    await store.rehearse(command, input);
    return consequenceShown(visit, {
      ...{
        title: `${question} ${withoutHidden(user.email)}?`,
        to: `${pathOf(back)}/${verb}`,
        carried: [PARTNER],
        act: label,
        back,
      },
      kind: bad ? "bad" : undefined,
      children: <p>{asks}</p>,
    });
  }
  const result = await store.write(command, input, request.id);
  if (isInvited(result)) return linkShown(visit, result, back);
  return { to: leaves ? people.place(visit, null) : back, notice: `${user.email} ${done}.` };
}

function isInvited(result: unknown): result is Invited {
  return typeof result === "object" && result !== null && "token" in result;
}
