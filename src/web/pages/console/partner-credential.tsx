import { type Credential, type GuardRails, listCredentials } from "../../../core/credentials/credential.ts";
import { type GuardRailsChange, updateCredential } from "../../../core/credentials/update.ts";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import { type FieldOf, formShown, saidBy } from "../../parts/act-form.tsx";
import { ActButton } from "../../parts/form.tsx";
import { mergedVisit } from "../../parts/merging.ts";
import { type Fields, pageShown, record } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, calendarDay, field, optionalField, partIn, type Shown } from "../../session/visit.ts";
import { historyShown } from "./history.tsx";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

/** Where a credential of a partner is shown, under the console's base. */
export function placeOf(slug: string, { client_id }: Pick<Credential, "client_id">): string {
  return `/partners/${slug}/credentials/${client_id}`;
}

/** The credential that the address names, of the partner that it names. Throws `not_found`. */
export async function credentialIn(visit: ConsoleVisit): Promise<Credential> {
  const all = await visit.store.read(listCredentials, slugOf(visit));
  const found = all.find(({ client_id }) => client_id === partIn(visit, "id"));
  if (found === undefined) throw notFound("credential");
  return found;
}

/** A credential with its guard rails. */
export async function credentialPage(visit: ConsoleVisit): Promise<Shown> {
  const one = await credentialIn(visit);
  const slug = slugOf(visit);
  const { guard_rails: rails } = one;
  const place = placeOf(slug, one);
  const writes = visit.may("credentials.write") && one.status !== "revoked";
  const fields: Fields = [
    ["Client ID", one.client_id],
    ["Environment", one.environment],
    ["Status", { status: one.status }],
    ["May", one.scopes.join(", ")],
    ["Made", { time: one.created_at }],
    ["Used from", rails.addresses?.join(", ") ?? "any address"],
    ["Valid until", rails.expires_at === null ? "it is revoked" : { time: rails.expires_at }],
    ["Identities", one.identity ? "allowed" : "not allowed"],
    ["Orders", capWords(rails)],
  ];
  const acts = writes && [
    <ActButton visit={visit} to={`${place}/rotate`} label="Replace the secret" />,
    <ActButton visit={visit} to={`${place}/revoke`} label="Revoke" kind="bad" />,
  ];
  const body = (
    <>
      <PartnerLinks visit={visit} slug={slug} />
      {record(visit, fields, acts)}
      {writes && guarding(visit, one, place)}
      {await historyShown(visit, one.client_id)}
    </>
  );
  return pageShown(visit, withoutHidden(one.label ?? "Credential"), body);
}

function capWords({ spend_caps, spent_today }: GuardRails): string {
  const caps = spend_caps.map(({ currency, per_order, per_day }) => {
    const parts = [per_order && `${per_order} an order`, per_day && `${per_day} a day`].filter(Boolean);
    return `${currency ?? "any currency"}: at most ${parts.join(", ")}`;
  });
  const spent = spent_today.map(({ currency, spent_cents }) => `${moneyWords(spent_cents, currency)} spent today`);
  return caps.length === 0 ? "any amount" : [...caps, ...spent].join("; ");
}

function railsOf({ guard_rails: rails, identity }: Credential): FieldOf[] {
  const [networks, day] = [rails.addresses?.join("\n") ?? "", rails.expires_at?.slice(0, 10) ?? ""];
  const ip = "One a line, for example 203.0.113.0/24; empty: any.";
  const expires = "The first moment of the day, UTC; empty: never.";
  return [
    { name: "ip", label: "Addresses and networks", value: networks, rows: 4, hint: ip },
    { name: "expires", label: "Invalid from", type: "date", value: day, hint: expires },
    { tick: "identity", label: "May handle identities", checked: identity },
  ];
}

function guarding(visit: ConsoleVisit, one: Credential, place: string) {
  const { guard_rails: rails } = one;
  if (rails.guarded_by !== null) {
    return (
      <section>
        <h2>Guard rails</h2>
        <p>
          It has those of{" "}
          <a href={`${visit.base}${placeOf(slugOf(visit), { client_id: rails.guarded_by })}`}>{rails.guarded_by}</a>,
          which created it.
        </p>
      </section>
    );
  }
  return [
    formShown(visit, {
      ...{ title: "Guard rails", to: `${place}/guard-rails`, submit: "Save the guard rails" },
      ...{ fields: railsOf(one), ofRecord: {} },
    }),
    formShown(visit, {
      ...{ title: "What orders may cost", to: `${place}/spend-cap`, submit: "Save the cap" },
      fields: [
        { name: "currency", label: "Currency", hint: "Empty: every currency without a cap of its own." },
        { name: "per_order", label: "One order", inputmode: "decimal", hint: "Empty: any amount." },
        { name: "per_day", label: "The orders of a day (UTC)", inputmode: "decimal" },
      ],
    }),
  ];
}

/** From when on it is invalid (ms); undefined: as it was. Throws `validation`. */
function expiryIn({ form }: ConsoleVisit, { guard_rails }: Credential): number | null | undefined {
  const day = calendarDay(form, "expires");
  // A moment within that day, which the terminal may have set, stays.
  if (day === guard_rails.expires_at?.slice(0, 10)) return undefined;
  return day === undefined ? null : Date.parse(`${day}T00:00:00Z`);
}

async function guard(visit: ConsoleVisit): Promise<Shown> {
  const one = await credentialIn(visit);
  const sent = mergedVisit(visit, saidBy(railsOf(one)));
  const addresses = field(sent.form, "ip")
    .split(/[\s,]+/)
    .filter((part) => part !== "");
  const expiresAt = expiryIn(sent, one);
  const identity = field(sent.form, "identity") !== "";
  return change(visit, one, {
    addresses: addresses.length === 0 ? null : addresses,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(identity === one.identity ? {} : { identity }),
  });
}

async function cap(visit: ConsoleVisit): Promise<Shown> {
  const { form } = visit;
  return change(visit, await credentialIn(visit), {
    currency: optionalField(form, "currency")?.toUpperCase() ?? null,
    perOrder: optionalField(form, "per_order") ?? null,
    perDay: optionalField(form, "per_day") ?? null,
  });
}

async function change(
  visit: ConsoleVisit,
  one: Credential,
  asked: Omit<GuardRailsChange, "clientId" | "actor">,
): Promise<Shown> {
  await visit.write(updateCredential, { clientId: one.client_id, ...asked });
  const notice = "The guard rails are saved. They hold from its next request on.";
  return { to: placeOf(slugOf(visit), one), notice };
}

const at = "/partners/:slug/credentials/:id";
const needs = "credentials.write";

export const partnerCredentialPages = [
  consolePage({ path: at, needs: "partners.read", show: credentialPage }),
  consolePage({ path: `${at}/guard-rails`, needs, act: guard, again: credentialPage, stepUp: true }),
  consolePage({ path: `${at}/spend-cap`, needs, act: cap, again: credentialPage, stepUp: true }),
];
