import type { Credential, IssuedCredential } from "../../../core/credentials/credential.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, shown, statusPaint } from "../../output/words.ts";

/** The keys of a credential that was just issued. */
export const ISSUED_JSON = "{client_id, client_secret, environment, scopes, label, created_at}";

/** The keys of a credential in lists: no secret. */
export const CREDENTIAL_JSON = "{client_id, environment, scopes, label, status, created_at}";

export const credentialColumns: Column<Credential>[] = [
  { title: "client id", value: (one) => one.client_id },
  { title: "environment", value: (one) => one.environment },
  { title: "status", value: (one) => one.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "label", value: (one) => one.label, shrinks: true, spare: 2 },
  { title: "scopes", value: (one) => one.scopes.join(" "), wraps: true, spare: 1 },
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
