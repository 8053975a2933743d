import type { Credential, IssuedCredential } from "../../../core/credentials/credential.ts";
import type { CredentialSecret } from "../../client/answers.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint } from "../../output/words.ts";

/** The keys of a credential that was just issued. */
export const ISSUED_JSON = "{client_id, client_secret, environment, scopes, label, created_at}";

/** The keys of a credential in lists: no secret. */
export const CREDENTIAL_JSON =
  "{client_id, environment, scopes, label, status (active | revoked | expired), guard_rails: {addresses, expires_at, " +
  "spend_caps: [{currency, per_order, per_day}], spent_today: [{currency, spent_cents, cap_cents, resets_at}], " +
  "guarded_by}, identity, created_at}";

/** A credential as the operator's commands have it, or as the API does: there its label is its description. */
type Shown = Omit<Credential, "label"> & { label?: string | null; description?: string | null };

function labelOf({ label, description }: Shown): string | null {
  return label ?? description ?? null;
}

export const credentialColumns: Column<Shown>[] = [
  { title: "client id", value: (one) => one.client_id },
  { title: "environment", value: (one) => one.environment },
  { title: "status", value: (one) => one.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "label", value: labelOf, shrinks: true, spare: 2 },
  { title: "scopes", value: (one) => one.scopes.join(" "), wraps: true, spare: 1 },
  { title: "guard rails", value: (one) => railsWords(one).join("; "), wraps: true, spare: 3 },
  { title: "created", value: (one) => moment(one.created_at), spare: true },
];

/** A credential with its secret, which is shown this once. */
export function issuedResult(issued: IssuedCredential): Result {
  return recordResult(
    issued,
    () => ({
      "client id": issued.client_id,
      "client secret": issued.client_secret,
      environment: issued.environment,
      scopes: issued.scopes.join(" "),
      label: shown(issued.label),
    }),
    "The secret is shown this once; keep it where the partner's program reads it.",
  );
}

/** The same, as the API answers it. */
export function ownIssued({ description: label, ...issued }: CredentialSecret): Result {
  return { ...issuedResult({ ...issued, label }), json: { ...issued, description: label } };
}

/** One credential, as all verbs that change or show one print it. */
export function credentialResult(credential: Shown): Result {
  return recordResult(credential, (sheet) => ({
    "client id": credential.client_id,
    environment: credential.environment,
    label: shown(labelOf(credential)),
    status: statusPaint(sheet, credential.status)(credential.status),
    scopes: credential.scopes.join(" "),
    "guard rails": railsWords(credential).join("; ") || "none",
    "spent today": spentWords(sheet, credential.guard_rails) || "-",
    created: moment(credential.created_at),
  }));
}

type Rails = Credential["guard_rails"];

/** What restricts a credential, a text each. */
function railsWords({ guard_rails, identity }: Pick<Credential, "guard_rails" | "identity">): string[] {
  const { addresses, expires_at, spend_caps, guarded_by } = guard_rails;
  return [
    ...(identity ? [] : ["no identities"]),
    ...(addresses === null ? [] : [`from ${addresses.join(", ")}`]),
    ...(expires_at === null ? [] : [`until ${moment(expires_at)}`]),
    ...spend_caps.flatMap(({ currency, per_order, per_day }) => [
      ...(per_order === null ? [] : [`${per_order} ${currency ?? "of any currency"} per order`]),
      ...(per_day === null ? [] : [`${per_day} ${currency ?? "of any currency"} per day`]),
    ]),
    ...(guarded_by === null ? [] : [`shared with ${guarded_by}`]),
  ];
}

function spentWords({ money }: Sheet, { spent_today }: Rails): string {
  return spent_today
    .map(({ currency, spent_cents, cap_cents }) =>
      cap_cents === null
        ? money(spent_cents, currency)
        : `${money(spent_cents, currency)} of ${money(cap_cents, currency)}`,
    )
    .join("; ");
}
