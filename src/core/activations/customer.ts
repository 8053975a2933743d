import type { Row } from "../store/schema/tables.ts";
import type { ActivationCustomer } from "../store/schema/values.ts";
import {
  keysOfActivationCustomer,
  keysOfMobileNumber,
  reindexRecord,
  sealedActivationCustomer,
  sealedMobileNumber,
} from "../store/sealing/people.ts";
import type { Read, Tx } from "../store/store.ts";

type ActivationRow = Row<"activations">;

/** Whom a request names, and the number of their SIM. */
export interface NamedCustomer extends ActivationCustomer {
  mobile_number: string | null;
}

/** Whom a request names; nothing once it was cleared, and where it cannot be read, which is reported. */
export function customerOf(
  q: Pick<Read, "vault">,
  row: Pick<ActivationRow, "id" | "customer_sealed" | "mobile_number_sealed">,
): NamedCustomer {
  const customer = sealedActivationCustomer.open(q, row.id, row.customer_sealed);
  const mobile_number = sealedMobileNumber.open(q, row.id, row.mobile_number_sealed)?.mobile_number ?? null;
  return { customer_name: "", customer_email: null, customer_phone: null, ...customer, mobile_number };
}

/** The column of the number that a carrier gave a SIM. */
export function sealMobileNumber(tx: Tx, { id }: Pick<ActivationRow, "id">, mobile_number: string | null) {
  return {
    mobile_number_sealed: mobile_number === null ? null : sealedMobileNumber.seal(tx, id, { mobile_number }),
  };
}

/** Makes a request be found by its customer and its SIM's number, and by none that it had before. */
export async function indexActivation(tx: Tx, row: ActivationRow): Promise<void> {
  const { mobile_number, ...customer } = customerOf(tx, row);
  const numbers = mobile_number === null ? [] : keysOfMobileNumber({ mobile_number });
  const keys = [...keysOfActivationCustomer(customer), ...numbers];
  await reindexRecord(tx, { scope: row, record: { kind: "activation", id: row.id }, keys });
}
