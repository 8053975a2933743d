import { customerOf as activationCustomerOf } from "../activations/customer.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import { customerOf } from "../orders/customer.ts";
import { itemsOfOrder } from "../orders/items.ts";
import { openPassportIfReadable } from "../passports/passport.ts";
import type { ActivationStatus, EsimStatus, OrderStatus } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import {
  activationStory,
  auditMoment,
  auditStory,
  esimStory,
  type Moment,
  orderStory,
  passportStory,
  travelerMailStory,
  webhookStory,
} from "./stories.ts";
import {
  findOwnSubjects,
  findSubjects,
  isEmpty,
  maskedNumberOf,
  partnerNames,
  type SubjectKind,
  type Subjects,
} from "./subjects.ts";

/** One thing that was found, in its present state. */
export interface Match {
  kind: SubjectKind;
  id: string;
  /** The order's number, or the ICCID; of a passport its country. */
  name: string;
  /** The partner's slug; null for an eSIM in stock. */
  partner: string | null;
  environment: string | null;
  status: string;
  /** Whom it names: a customer, a traveler or the holder of a passport; null: no one, or it was cleared. */
  person: string | null;
  /** All but the last three characters hidden; null where there is none. */
  passport_no: string | null;
}

/** A whole story. */
export interface Story {
  matched: Match[];
  /** Oldest first; empty where several things fit a name or the end of a number. */
  timeline: StoryMoment[];
  /** Whether several things fit, so that they are listed without their timelines. */
  ambiguous: boolean;
  /** The kinds of which there are or may be more: the newest 50 of each are matched and listed. */
  truncated: SubjectKind[];
}

interface StoryMoment extends Omit<Moment, "at" | "request_id"> {
  at: string;
  /** The HTTP request that did it, where that is known. */
  request_id: string | null;
}

/**
 * Lists all that is known of what `what` means, on one snapshot: see `findSubjects` for what it may be. Throws
 * `not_found`, without repeating it: it may be a passport number; `validation` where too many names are alike.
 */
export async function findStory(q: Read, what: string): Promise<Story> {
  const subjects = await findSubjects(q, what);
  if (isEmpty(subjects)) {
    refuseUnopened(subjects.truncated);
    throw new Problem("not_found", "No such order, eSIM, activation, passport, person or request.");
  }
  const { ambiguous, truncated } = subjects;
  const matched = await matches(q, subjects);
  if (ambiguous) return { matched, timeline: [], ambiguous, truncated };
  const moments = [...(await ownStories(q, subjects)), ...(await sharedStories(q, subjects))];
  // What happened at one moment stays in the order in which it was listed.
  const timeline = moments
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, request_id = null, ...moment }) => ({ at: isoTime(at), ...moment, request_id }));
  return { matched, timeline, ambiguous, truncated };
}

/** One record that a partner's search found, with the status that the API shows of it. */
interface OwnMatch extends Pick<Match, "kind" | "id" | "name" | "person"> {
  status: OrderStatus | EsimStatus | ActivationStatus | "received";
}

interface OwnMatches {
  data: OwnMatch[];
  count: number;
  truncated: SubjectKind[];
}

/**
 * The records of one partner in one environment that name a person or carry a number, see `findOwnSubjects`; eSIMs only
 * where `esims` says so. Newest first, by kind. Throws `validation` where too many names are alike to know.
 */
export async function findOwn(
  q: Read,
  { owner, query, esims }: { owner: Owner; query: string; esims: boolean },
): Promise<OwnMatches> {
  const subjects = await findOwnSubjects(q, query, owner);
  const shown = (kind: SubjectKind) => esims || kind !== "esim";
  // What the operator decided about a passport, and what is left to staff, are not the partner's to see.
  const statuses = new Map<string, OwnMatch["status"]>(
    [...subjects.orders, ...subjects.esims, ...subjects.activations].map(({ id, status }) => [id, status]),
  );
  const found = (await matches(q, subjects)).filter(({ kind }) => shown(kind));
  const data = found.map(({ kind, id, name, person }): OwnMatch => {
    return { kind, id, name, status: statuses.get(id) ?? "received", person };
  });
  const truncated = subjects.truncated.filter(shown);
  if (data.length === 0) refuseUnopened(truncated);
  return { data, count: data.length, truncated };
}

/** Whether a look-up refused since it found nothing, or cannot know whether there is anything. */
export function foundNothing(error: unknown): error is Problem {
  return error instanceof Problem && (error.slug === "not_found" || error.slug === "validation");
}

/** Throws `validation` where nothing was found but not all that may be meant was opened. */
function refuseUnopened(truncated: readonly SubjectKind[]): void {
  if (truncated.length === 0) return;
  const words = "Too many names begin, or numbers end, like this: type more of it.";
  throw new Problem("validation", words, { errors: { query: ["must be longer: too many begin or end like this"] } });
}

async function ownStories(q: Read, { orders, esims, activations, passports }: Subjects): Promise<Moment[]> {
  const moments: Moment[] = [];
  for (const order of orders) moments.push(...(await orderStory(q, order)));
  for (const esim of esims) moments.push(...esimStory(esim, q.now), ...(await travelerMailStory(q, esim)));
  for (const activation of activations) moments.push(...(await activationStory(q, activation)));
  for (const passport of passports) moments.push(...(await passportStory(q, passport)));
  return moments;
}

async function sharedStories(q: Read, subjects: Subjects): Promise<Moment[]> {
  const { orders, esims, activations, passports, audited } = subjects;
  const ids = new Set<string>([...orders, ...esims, ...activations, ...passports].map(({ id }) => id));
  for (const order of orders) for (const { id } of await itemsOfOrder(q, order.id)) ids.add(id);
  const moments: Moment[] = [];
  for (const id of ids) moments.push(...(await webhookStory(q, id)), ...(await auditStory(q, id)));
  // What a request did to other things, e.g. a webhook's endpoint.
  return [...moments, ...audited.filter(({ target_id }) => !ids.has(target_id)).map(auditMoment)];
}

async function matches(q: Read, { orders, esims, activations, passports, people }: Subjects): Promise<Match[]> {
  const names: Map<string, string> = await partnerNames(q);
  const person = (id: string, named: string | undefined) => people.get(id) ?? (named || null);
  const whose = ({ partner_id, environment }: { partner_id: string | null; environment: string | null }) => {
    return { partner: partner_id === null ? null : (names.get(partner_id) ?? null), environment };
  };
  return [
    ...orders.map((row): Match => {
      return {
        kind: "order",
        id: row.id,
        name: row.order_number,
        ...whose(row),
        status: row.status,
        person: person(row.id, customerOf(q, row)?.name),
        passport_no: null,
      };
    }),
    ...esims.map((row): Match => {
      const { id, iccid: name, status } = row;
      return { kind: "esim", id, name, ...whose(row), status, person: null, passport_no: null };
    }),
    ...activations.map((row): Match => {
      const status = row.processing_status === "manual_required" ? row.processing_status : row.status;
      return {
        kind: "activation",
        id: row.id,
        name: row.iccid,
        ...whose(row),
        status,
        person: person(row.id, activationCustomerOf(q, row).customer_name),
        passport_no: maskedNumberOf(q, row),
      };
    }),
    ...passports.map((row): Match => {
      const status = row.withdrawn_at === null ? row.verification : "withdrawn";
      const about = { kind: "passport", id: row.id, name: row.passport_country, ...whose(row), status } as const;
      const holder = openPassportIfReadable(q, row);
      const named = holder === null ? undefined : `${holder.first_name} ${holder.last_name}`;
      return { ...about, person: person(row.id, named), passport_no: maskedNumberOf(q, row) };
    }),
  ];
}
