import { firstTime } from "../accounts/form-keys.ts";
import type { Actor } from "../audit/record.ts";
import type { ActivationId, UserId } from "../kernel/brand.ts";
import { laterBy } from "../kernel/calendar-day.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import { partnerById } from "../partners/partner.ts";
import type { Tx } from "../store/store.ts";
import { type Activation, type ActivationRow, activationById, toActivation } from "./activation.ts";
import { reasonOf } from "./bulk.ts";
import { cancelActivation } from "./cancel.ts";
import { rescheduleActivation } from "./reschedule.ts";

/** What people do to many requests at once. */
export type ManyChange =
  | { verb: "shift"; days: number }
  | { verb: "move"; date: string }
  | { verb: "cancel"; reason: string | null };

/** A request before and after the change. */
export interface ChangeOutcome {
  id: ActivationId;
  partner: string | null;
  /** Null: there is none with this id. */
  before: Activation | null;
  /** Null: it was refused and is as before. */
  after: Activation | null;
  /** As outcomes of the bulk endpoints have it: not_editable:<status>, passport_expired, …; null: it was done. */
  refused: string | null;
}

interface Changing {
  ids: readonly ActivationId[];
  /** Whose they are: those of others are not there; null: any partner's. */
  owner: Owner | null;
  change: ManyChange;
  actor: Actor;
}

/** The most requests of one change. */
const MOST = 200;

/**
 * Moves or cancels requests, one after the other in the order given, each for itself. Throws only `validation`, where
 * none or more than 200 are named.
 */
export async function changeMany(tx: Tx, { ids, ...given }: Changing): Promise<ChangeOutcome[]> {
  const named = [...new Set(ids)];
  if (named.length === 0) throw new Problem("validation", "None is chosen: tick the requests first.");
  if (named.length > MOST) throw new Problem("validation", `At most ${MOST} requests are changed at once.`);
  const outcomes: ChangeOutcome[] = [];
  for (const id of named) outcomes.push(await outcomeOf(tx, id, given));
  return outcomes;
}

/** The same, once by the key of its form; null: this form did so before. */
export async function changeManyByForm(
  tx: Tx,
  { key, userId, ...input }: Changing & { key: string; userId: UserId },
): Promise<ChangeOutcome[] | null> {
  return (await firstTime(tx, { key, userId })) ? changeMany(tx, input) : null;
}

/** Refusals come before anything is written, so one can be kept and the transaction go on. */
async function outcomeOf(tx: Tx, id: ActivationId, given: Omit<Changing, "ids">): Promise<ChangeOutcome> {
  const { owner } = given;
  const row = await activationById(tx, id);
  const isOwn = owner === null || (row?.partner_id === owner.partnerId && row.environment === owner.environment);
  if (row === null || !isOwn) return { id, partner: null, before: null, after: null, refused: "not_found" };
  const known = { id, partner: (await partnerById(tx, row.partner_id)).slug, before: toActivation(tx, row) };
  try {
    return { ...known, after: await changed(tx, row, given), refused: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...known, after: null, refused: reasonOf(error) };
  }
}

function changed(tx: Tx, row: ActivationRow, { change, actor }: Omit<Changing, "ids">): Promise<Activation> {
  const owner = { partnerId: row.partner_id, environment: row.environment };
  const target = { id: row.id };
  if (change.verb === "cancel") return cancelActivation(tx, { owner, target, reason: change.reason, actor });
  const date = change.verb === "move" ? change.date : laterBy(row.activation_date, change.days);
  return rescheduleActivation(tx, { owner, target, edit: { requested_activation_date: date }, actor });
}
