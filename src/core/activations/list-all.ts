import { and, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { bindingOf, isCustomer, isEmail, type OverAll, startOf } from "../kernel/list-filter.ts";
import { byCreation, type Pagination, pageOf, walk } from "../kernel/page.ts";
import { emailKey } from "../kernel/search-keys.ts";
import type { Waiting } from "../kernel/waiting.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { ActivationStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Activation, type ActivationRow, toActivation } from "./activation.ts";
import { waitingOfActivations } from "./waiting.ts";

/** Which requests of all partners. */
export interface AllActivationsFilter extends OverAll {
  status?: ActivationStatus | undefined;
  iccid?: string | undefined;
}

/** A request as the operator's list shows it. */
export interface ListedActivation extends Activation {
  partner: string;
  environment: Environment;
  waiting: Waiting | null;
}

interface Window {
  environment: Environment;
  /** The least id, and the least moment of creation. */
  from: string;
  since: number;
  key: number;
  id: string;
  limit: number;
  iccid: string;
  email: string;
  partnerId: PartnerId;
}

type Narrowed = (t: Tables, slot: Slots<Window>) => SQL | undefined;

/** Requests by what leads to them, newest first. */
function listed(byCreated: boolean, narrowed: Narrowed) {
  return statement((db, t, slot: Slots<Window>) => {
    const { created_at, id, environment, partner_id } = t.activations;
    const position = sql`(${created_at}, ${id}) < (${slot.key}, ${slot.id})`;
    // Ids begin with the moment of creation.
    const reached = byCreated ? [gte(created_at, slot.since), position] : [gte(id, slot.from), lt(id, slot.id)];
    return db
      .select({ activation: t.activations, partner: t.partners.slug })
      .from(t.activations)
      .innerJoin(t.partners, eq(t.partners.id, partner_id))
      .where(and(eq(environment, slot.environment), ...reached, narrowed(t, slot)))
      .orderBy(...(byCreated ? [desc(created_at)] : []), desc(id))
      .limit(slot.limit);
  });
}

const lists = {
  all: listed(false, () => undefined),
  ofEmail: listed(false, (t, slot) => eq(t.activations.email_key, slot.email)),
  ofIccid: listed(true, (t, slot) => eq(t.activations.iccid, slot.iccid)),
  ofPartner: listed(true, (t, slot) => eq(t.activations.partner_id, slot.partnerId)),
};

type Found = Awaited<ReturnType<typeof lists.all>>[number];

function listFor({ iccid, customer, partnerId }: AllActivationsFilter) {
  if (iccid !== undefined) return lists.ofIccid;
  if (isEmail(customer)) return lists.ofEmail;
  return partnerId === undefined ? lists.all : lists.ofPartner;
}

/**
 * A page of the physical-SIM requests of all partners in one environment, newest first, each with whom it waits for. A
 * status and a customer's name are looked for page by page. Throws `invalid_cursor`.
 */
export async function listAllActivations(
  q: Read,
  filter: AllActivationsFilter,
): Promise<{ data: ListedActivation[]; count: number; pagination: Pagination }> {
  const { limit, cursor, customer, partnerId, status, iccid, environment, since = 0, until } = filter;
  const list = listFor(filter);
  const slots = { environment, since, from: firstUuidOf(since), email: emailKey(customer) ?? "", iccid, partnerId };
  const fits = (row: ActivationRow) =>
    (partnerId === undefined || row.partner_id === partnerId) &&
    (status === undefined || row.status === status) &&
    isCustomer({ name: row.customer_name, email: row.customer_email }, customer);
  const positionOf = ({ activation }: Found) => byCreation(activation);
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: bindingOf("all_activations", filter), start: startOf(until) },
    (window) =>
      walk(window, ({ activation }) => fits(activation), {
        // The chosen list uses only some of the slots.
        read: (from) => list(q, { ...slots, ...from } as Window),
        positionOf,
      }),
    positionOf,
  );
  const waitingOf = await waitingOfActivations(q);
  const data = rows.map(({ activation, partner }) => {
    return { partner, environment, ...toActivation(activation), waiting: waitingOf(activation) };
  });
  return { data, count: data.length, pagination };
}
