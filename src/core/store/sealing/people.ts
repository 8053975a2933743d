import { keysOfPerson } from "../../kernel/people-keys.ts";
import type { ActivationCustomer, MobileNumber } from "../schema/activations.ts";
import type { Traveller } from "../schema/order-items.ts";
import type { OrderCustomer } from "../schema/orders.ts";
import type { Read } from "../store.ts";
import type { Cell, SealedColumn } from "../vault.ts";

/** A JSON value that is sealed in a column of its row. */
function sealedJson<T>(column: SealedColumn) {
  const cell = (row: string): Cell => ({ column, row });
  const openText = ({ vault }: Pick<Read, "vault">, row: string, sealed: string | null): string | null =>
    sealed === null ? null : vault.openIfReadable(sealed, cell(row));
  return {
    /** Only inside a command, see `Vault.seal`. */
    seal: ({ vault }: Pick<Read, "vault">, row: string, value: T): string =>
      vault.seal(JSON.stringify(value), cell(row)),
    /** What `seal` sealed; null for null, and where it cannot be read, which is reported. */
    open(q: Pick<Read, "vault">, row: string, sealed: string | null): T | null {
      const opened = openText(q, row, sealed);
      // `seal` sealed exactly this shape.
      return opened === null ? null : (JSON.parse(opened) as T);
    },
    /** The same as the text that it was. */
    openText,
  };
}

export const sealedOrderCustomer = sealedJson<OrderCustomer>("orders.customer_sealed");
export const sealedTraveller = sealedJson<Traveller>("order_items.traveller_sealed");
export const sealedActivationCustomer = sealedJson<ActivationCustomer>("activations.customer_sealed");
export const sealedMobileNumber = sealedJson<MobileNumber>("activations.mobile_number_sealed");
export const sealedEventData = sealedJson<Record<string, unknown>>("events.sealed");

/** The keys under which records are found by whom they name. */
export const keysOfCustomer = ({ name, email, phone }: OrderCustomer) =>
  keysOfPerson({ name, email, numbers: [phone] });

export const keysOfTraveller = ({ customer_name, customer_email, customer_phone, eid_number }: Traveller) =>
  keysOfPerson({ name: customer_name, email: customer_email, numbers: [customer_phone, eid_number] });

export const keysOfActivationCustomer = ({ customer_name, customer_email, customer_phone }: ActivationCustomer) =>
  keysOfPerson({ name: customer_name, email: customer_email, numbers: [customer_phone] });

export const keysOfMobileNumber = ({ mobile_number }: MobileNumber) => keysOfPerson({ numbers: [mobile_number] });

export const keysOfParcel = ({ tracking_number }: { tracking_number: string }) =>
  keysOfPerson({ numbers: [tracking_number] });

export const keysOfPassport = ({ first_name, last_name }: { first_name: string; last_name: string }) =>
  keysOfPerson({ name: `${first_name} ${last_name}` });
