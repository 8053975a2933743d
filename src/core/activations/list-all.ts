import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Environment } from "../kernel/environment.ts";
import type { OverAll } from "../kernel/list-filter.ts";
import type { Pagination } from "../kernel/page.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { type AllPartnersWindow, pageOfAllPartners, windowOf } from "../platform/all-partners.ts";
import { type CustomerFilter, customerFilter } from "../platform/customer-filter.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { ActivationStatus, ProcessingStatus } from "../store/schema/values.ts";
import { namedIn } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Dialect, Read } from "../store/store.ts";
import { type Activation, toActivation } from "./activation.ts";
import { customerOf } from "./customer.ts";
import { waitingOfActivations } from "./waiting-of-activations.ts";

/** Which requests of all partners. */
export interface AllActivationsFilter extends OverAll {
  status?: ActivationStatus | undefined;
  processing_status?: ProcessingStatus | undefined;
  iccid?: string | undefined;
  /** The first and the last activation date, YYYY-MM-DD. */
  activation_from?: string | undefined;
  activation_to?: string | undefined;
}

/** A request as the operator's list shows it. */
export interface ListedActivation extends Activation {
  partner: string;
  environment: Environment;
  waiting: Waiting | null;
}

interface Window extends AllPartnersWindow {
  iccid: string;
}

type Narrowed = (t: Tables, slot: Slots<Window>, dialect: Dialect) => SQL | undefined;

/** Requests by what leads to them, newest first. */
function listed(byCreated: boolean, narrowed: Narrowed) {
  return statement((db, t, slot: Slots<Window>, dialect) => {
    const { rows, order } = windowOf(t.activations, slot, byCreated);
    return db
      .select({ activation: t.activations, partner: t.partners.slug })
      .from(t.activations)
      .innerJoin(t.partners, eq(t.partners.id, t.activations.partner_id))
      .where(and(rows, narrowed(t, slot, dialect)))
      .orderBy(...order)
      .limit(slot.limit);
  });
}

const lists = {
  all: listed(false, () => undefined),
  ofCustomer: listed(false, (t, slot, dialect) => namedIn(t, t.activations.id, sql`${slot.digests}`, dialect)),
  ofIccid: listed(true, (t, slot) => eq(t.activations.iccid, slot.iccid)),
  ofPartner: listed(true, (t, slot) => eq(t.activations.partner_id, slot.partnerId)),
};

type Found = Awaited<ReturnType<typeof lists.all>>[number];

function listFor({ iccid, partnerId }: AllActivationsFilter, { digests }: CustomerFilter) {
  if (iccid !== undefined) return lists.ofIccid;
  if (digests !== null) return lists.ofCustomer;
  return partnerId === undefined ? lists.all : lists.ofPartner;
}

/**
 * A page of the physical-SIM requests of all partners in one environment, newest first, each with whom it waits for. A
 * customer is looked for by the index of people, a status and dates page by page. Throws `invalid_cursor`.
 */
export async function listAllActivations(
  q: Read,
  filter: AllActivationsFilter,
): Promise<{ data: ListedActivation[]; count: number; pagination: Pagination }> {
  const { customer, status, processing_status: processing, iccid, environment } = filter;
  const { activation_from: from = "", activation_to: to } = filter;
  const who = await customerFilter(q, customer, filter);
  const list = listFor(filter, who);
  const { rows, pagination } = await pageOfAllPartners<Found>("all_activations", filter, {
    // The chosen list uses only some of the slots.
    read: (window) => list(q, { ...window, digests: who.digests ?? "", iccid } as Window),
    fits: ({ activation }) =>
      (status === undefined || activation.status === status) &&
      (processing === undefined || activation.processing_status === processing) &&
      activation.activation_date >= from &&
      (to === undefined || activation.activation_date <= to) &&
      who.fits(() => {
        const { customer_name: name, customer_email: email } = customerOf(q, activation);
        return { name, email };
      }),
    recordOf: ({ activation }) => activation,
  });
  const waitingOf = await waitingOfActivations(q);
  const data = rows.map(({ activation, partner }) => {
    return { partner, environment, ...toActivation(q, activation), waiting: waitingOf(activation) };
  });
  return { data, count: data.length, pagination };
}
