import type { ActivationRow } from "../activations/activation.ts";
import { attemptsOfActivation } from "../activations/reveal.ts";
import { passportUses } from "../passports/operator-view.ts";
import type { PassportRow } from "../passports/passport.ts";
import type { Read } from "../store/store.ts";
import { attemptWords, type Moment, momentsOf } from "./moment.ts";

/** What happened to a request: its states, and each exchange with its carrier with the answer, identity redacted. */
export async function activationStory(q: Read, row: ActivationRow): Promise<Moment[]> {
  const { id, iccid, carrier } = row;
  const number = row.mobile_number === null ? "" : `, number ${row.mobile_number}`;
  const why = [row.error_type, row.error_message].filter((word) => word !== null).join(": ");
  const confirmation = row.confirmation_number === null ? "" : `, number ${row.confirmation_number}`;
  const states = momentsOf("activation", id, [
    [row.created_at, `activation of ${iccid} with ${carrier} asked for, date ${row.activation_date}`, row.request_id],
    [row.submitted_at, `submitted to ${carrier}`],
    [row.confirmed_at, `confirmed by ${carrier}${confirmation}`],
    [row.activated_at, `${iccid} activated${number}`],
    [row.cancelled_at, `cancelled${row.cancel_reason === null ? "" : `: ${row.cancel_reason}`}`],
    [row.status === "failed" ? (row.finished_at ?? row.updated_at) : null, `failed${why === "" ? "" : `: ${why}`}`],
    [
      row.processing_status === "manual_required" ? row.queued_at : null,
      `left to staff${why === "" ? "" : `: ${why}`}`,
    ],
  ]);
  const attempts = (await attemptsOfActivation(q, row.id)).map((attempt): Moment => {
    const { at, request_id } = attempt;
    return { at: Date.parse(at), kind: "carrier", id, text: attemptWords(attempt), request_id };
  });
  return [...states, ...attempts];
}

/** What happened to a passport: when it came and went, and who drew it. */
export async function passportStory(q: Read, row: PassportRow): Promise<Moment[]> {
  const own = momentsOf("passport", row.id, [
    [row.created_at, `passport of ${row.passport_country} received`],
    [row.withdrawn_at, "passport withdrawn"],
  ]);
  const uses = (await passportUses(q, row.id)).flatMap((use) =>
    momentsOf("passport", row.id, [
      [Date.parse(use.drawn_at), `drawn for ${use.request_id} with ${use.carrier}`],
      [use.released_at === null ? null : Date.parse(use.released_at), `released by ${use.request_id}`],
    ]),
  );
  return [...own, ...uses];
}
