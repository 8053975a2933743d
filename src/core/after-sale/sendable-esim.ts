import { deliveredEsims } from "../esims/delivered.ts";
import { type EsimRow, visibleEsim } from "../esims/esim.ts";
import { requireOwnEsim, soldIn } from "../esims/status.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound } from "../kernel/problem.ts";
import { customerOf } from "../orders/customer.ts";
import { findByKey } from "../store/rows.ts";
import type { Read } from "../store/store.ts";

/** The eSIM to be sent: one of this owner's, or of any partner. */
export interface EsimToSend {
  iccid: string;
  owner: Owner | null;
}

/** What is known of an eSIM before it is sent. */
export interface SendableEsim {
  esim: EsimRow;
  product: string;
  /** Why it is not sent, in a sentence; null: it may be. */
  refusal: string | null;
  /** The address of the order's customer, see `customerAddress`. */
  customer: string | null;
}

async function esimToSend(q: Read, { iccid, owner }: EsimToSend) {
  if (owner !== null) return requireOwnEsim(q, { iccid, ...owner });
  const delivered = await deliveredEsims(q, iccid);
  const found = delivered.find(({ esim }) => esim.environment === "production") ?? delivered[0];
  if (found === undefined) throw notFound("esim");
  return found;
}

/** What there is to send, and to whom. Throws what `requireOwnEsim` does. */
export async function sendableEsim(q: Read, input: EsimToSend): Promise<SendableEsim> {
  const { esim, line } = await esimToSend(q, input);
  const customer = await customerAddress(q, esim);
  return { esim, product: line.product_name, refusal: await refusalOf(q, esim), customer };
}

/** The address of the customer of an eSIM's order; null: the order names none, or none that can be read. */
export async function customerAddress(q: Read, esim: EsimRow): Promise<string | null> {
  const order = await findByKey(q, "orders", { id: soldIn(esim) });
  return order === null ? null : (customerOf(q, order)?.email ?? null);
}

/** Why an eSIM is not sent to anyone, in a sentence; null: it may be. */
export async function refusalOf(q: Read, esim: EsimRow): Promise<string | null> {
  if (esim.environment !== "production") return "In the sandbox no mail goes out; open the link.";
  const visible = await visibleEsim(q, esim.id);
  if (visible === null) return "Its codes are not delivered yet.";
  if (visible.codes === null) return "Its codes cannot be read.";
  return esim.status === "expired" || esim.retired_at !== null ? "The eSIM has ended." : null;
}
