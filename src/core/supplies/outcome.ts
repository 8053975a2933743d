/** An eSIM as a supplier hands it over. */
export interface SuppliedEsim {
  iccid: string;
  smdp_address: string;
  matching_id: string;
  confirmation_code: string | null;
}

/** What an exchange with a supplier came to, whatever the adapter (decided: Fulfilment). */
export type SupplyOutcome =
  /** Taken in; the final answer comes by callback or from staff. */
  | { kind: "accepted" }
  | { kind: "confirmed"; confirmationNumber: string | null }
  /** Delivered; `esims` is empty where the profile went straight into the device. */
  | { kind: "activated"; confirmationNumber: string | null; esims: SuppliedEsim[] }
  /** A definite no. */
  | { kind: "refused"; errorType: string; errorMessage: string }
  /** No answer, or none that can be relied on: it is asked again. */
  | { kind: "temporary"; reason: string };
