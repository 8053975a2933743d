import { daysBetween, isCivilDate } from "../kernel/calendar-day.ts";
import { eidValid } from "../kernel/check-digits.ts";
import { civilDateAt, isTimeZone } from "../kernel/civil-date.ts";
import { counted } from "../kernel/counted.ts";
import { type FieldErrors, invalid, Problem } from "../kernel/problem.ts";
import type { Traveler } from "../store/schema/values.ts";
import { scheduledMethods } from "../store/schema/values.ts";
import type { PricedLine } from "./price-lines.ts";

/** Contract: an item of activation_requests, with its defaults filled in. */
export interface ActivationRequest extends Traveler {
  product_id: string;
}

/** Whether each unit of a line needs an activation request. */
export function isScheduled(deliveryMethod: string): boolean {
  return scheduledMethods.some((method) => method === deliveryMethod);
}

/** What activation dates are compared with. */
interface Dates {
  now: number;
  daysAhead: number | null;
}

/**
 * Assigns travelers to lines, in the order of the requests. Throws `validation` naming missing and surplus ones
 * and, with `strictEid`, EIDs with a wrong check digit; `invalid_activation_date` for a date that the
 * calendar does not have, that is past in the request's own time zone, or more than `daysAhead` days ahead there (null:
 * any).
 */
export function matchRequests(
  lines: PricedLine[],
  requests: ActivationRequest[],
  { strictEid, ...dates }: Dates & { strictEid: boolean },
): Traveler[][] {
  const errors: FieldErrors = {};
  const waiting = new Map<string, { index: number; request: ActivationRequest }[]>();
  for (const [index, request] of requests.entries()) {
    const queue = waiting.get(request.product_id) ?? [];
    waiting.set(request.product_id, [...queue, { index, request }]);
  }
  const travelers = lines.map(({ product, quantity }): Traveler[] => {
    if (!isScheduled(product.delivery_method)) return [];
    const queue = waiting.get(product.id) ?? [];
    const own = queue.splice(0, quantity);
    if (own.length < quantity) {
      errors.activation_requests = [
        ...(errors.activation_requests ?? []),
        `must have one item for each unit of ${product.sku}: ${quantity - own.length} missing`,
      ];
    }
    for (const { index, request } of own) checkRequest(index, request, product.delivery_method, errors);
    return own.map(({ request }) => travelerOf(request));
  });
  if (strictEid) for (const field of wrongEids(requests)) errors[field] = ["has a wrong check digit"];
  for (const queue of waiting.values()) {
    for (const { index } of queue) {
      errors[`activation_requests.${index}.product_id`] = ["is surplus: no unit of this order needs it"];
    }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  refuseDates(requests, dates);
  return travelers;
}

function checkRequest(index: number, request: ActivationRequest, delivery: string, errors: FieldErrors): void {
  const field = `activation_requests.${index}`;
  if (delivery === "eid_push" && request.eid_number === null)
    errors[`${field}.eid_number`] = ["is required for this product"];
  if (!isTimeZone(request.timezone)) errors[`${field}.timezone`] = ["must be a time zone such as Australia/Sydney"];
}

/** The fields of an order whose EIDs have a wrong check digit. Devices with such EIDs exist, and work. */
export function wrongEids(requests: Pick<ActivationRequest, "eid_number">[]): string[] {
  return requests.flatMap(({ eid_number }, index) =>
    eid_number === null || eidValid(eid_number) ? [] : [`activation_requests.${index}.eid_number`],
  );
}

function refuseDates(requests: ActivationRequest[], dates: Dates): void {
  for (const [index, request] of requests.entries()) {
    const words = dateProblem(request, dates);
    if (words === undefined) continue;
    const field = `activation_requests.${index}.activation_date`;
    throw new Problem("invalid_activation_date", `${field} ${words}.`, { errors: { [field]: [words] } });
  }
}

function dateProblem({ activation_date, timezone }: ActivationRequest, { now, daysAhead }: Dates): string | undefined {
  if (!isCivilDate(activation_date)) return "is not a day that the calendar has";
  const today = civilDateAt(now, timezone);
  if (activation_date < today) return `is past in ${timezone}`;
  const tooFar = daysAhead !== null && daysBetween(today, activation_date) > daysAhead;
  return tooFar ? `is more than ${counted(daysAhead, "day")} ahead` : undefined;
}

function travelerOf({ product_id, ...traveler }: ActivationRequest): Traveler {
  return traveler;
}
