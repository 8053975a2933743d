import { insert } from "../store/rows.ts";
import type { KycField } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { carrierRows } from "./carrier.ts";

/** How long one exchange may take unless the carrier says otherwise. */
export const EXCHANGE_TIMEOUT_MS = 10_000;

/** How long after acceptance the final answer may take unless the carrier says otherwise. */
export const ANSWER_WITHIN_MS = 24 * 3_600_000;

const documents: KycField[] = [
  "first_name",
  "last_name",
  "passport_no",
  "passport_country",
  "passport_expiry",
  "date_of_birth",
  "address",
];

/** The carriers that every installation starts with (contract: carrier mapping). */
const seeds = [
  {
    prefix: "896103",
    name: "Carrier A (Australia)",
    brand: "carrier-a",
    required_fields: [...documents, "sim_last4", "puk"] satisfies KycField[],
  },
  {
    prefix: "58",
    name: "Carrier B (Australia)",
    brand: "carrier-b",
    required_fields: [...documents, "title"] satisfies KycField[],
  },
];

/** Puts the two carriers into a new database, to be worked by hand; changes nothing where carriers are. */
export async function ensureCarriers(tx: Tx, _input: null): Promise<void> {
  if ((await carrierRows(tx)).length > 0) return;
  for (const seed of seeds) {
    await insert(tx, "carriers", [
      {
        ...seed,
        region: "Australia",
        adapter: "manual",
        timeout_ms: EXCHANGE_TIMEOUT_MS,
        answer_within_ms: ANSWER_WITHIN_MS,
        created_at: tx.now,
        updated_at: tx.now,
      },
    ]);
  }
}
