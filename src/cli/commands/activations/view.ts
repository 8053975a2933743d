import type { Activation } from "../../client/answers.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint } from "../../output/words.ts";

/** The keys of one request, as the API answers it. */
export const ACTIVATION_JSON =
  "{id, iccid, carrier, activation_date, customer_name, status, processing_status, processing_mode, mobile_number, …}";

/** What bulk commands print. */
export const BULK_JSON =
  "the API's bodies summed: {results: [{activation_id | iccid, status, reason?, activation?}], summary: {total, " +
  "successful, failed}}; with --file also rejected, rejected_file, reasons and suggestions";

/** What they print with `--dry-run`. */
export const DRY_RUN_JSON =
  "with --dry-run {dry_run, changes: [{activation_id, iccid, customer_name, activation_date, new_date?, new_note?, " +
  "refused}]}";

export const activationColumns: Column<Activation>[] = [
  { title: "iccid", value: (one) => one.iccid },
  { title: "date", value: (one) => one.activation_date },
  { title: "status", value: statusText, paint: (sheet, { status }) => statusPaint(sheet, status), shrinks: true },
  { title: "customer", value: (one) => one.customer_name, shrinks: true, spare: 3 },
  { title: "carrier", value: (one) => one.carrier, shrinks: true, spare: true },
  { title: "number", value: (one) => one.mobile_number, spare: 2 },
  { title: "id", value: (one) => one.id, spare: 1 },
];

/** The public status, with how far the carrier is where that says more. */
function statusText({ status, processing_status }: Pick<Activation, "status" | "processing_status">): string {
  const more = status === "cancelled" || processing_status === status ? "" : ` (${processing_status})`;
  return status + more;
}

/** A request's own fields, for people. */
export function activationFields(sheet: Sheet, one: Activation): Record<string, string> {
  const error = one.error_type === null ? "-" : `${one.error_type}: ${one.error_message ?? ""}`;
  return {
    iccid: one.iccid,
    id: one.id,
    status: statusPaint(sheet, one.status)(statusText(one)),
    date: `${one.activation_date} (Sydney), ${one.processing_mode}`,
    customer: shown(one.customer_name),
    "e-mail": shown(one.customer_email),
    carrier: shown(one.carrier),
    plan: shown(one.plan_name),
    note: shown(one.note),
    "mobile number": shown(one.mobile_number),
    confirmation: shown(one.confirmation_number),
    error: shown(error),
    created: moment(one.created_at),
    submitted: moment(one.submitted_at),
    activated: moment(one.activated_at),
    cancelled: moment(one.cancelled_at),
  };
}
