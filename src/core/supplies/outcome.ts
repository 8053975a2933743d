/** An eSIM as a supplier delivers it. */
export interface SuppliedEsim {
  iccid: string;
  smdp_address: string;
  matching_id: string;
  confirmation_code: string | null;
}

/** The outcome of an exchange with a supplier, with any adapter. */
export type SupplyOutcome =
  /** Accepted; the final response comes by callback or from staff. */
  | { kind: "accepted" }
  | { kind: "confirmed"; confirmationNumber: string | null }
  /** Delivered; `esims` is empty where the profile went straight into the device. */
  | { kind: "activated"; confirmationNumber: string | null; esims: SuppliedEsim[] }
  /** Refused for good. */
  | { kind: "refused"; errorType: string; errorMessage: string }
  /** No response, or an unusable one: the request is repeated. */
  | { kind: "temporary"; reason: string };
