import type { Transitions } from "../kernel/state-machine.ts";
import type { EsimStatus } from "../store/schema/esims.ts";

/**
 * Contract: eSIM status. A suspended eSIM becomes active again by the same act that activates a new one; its validity
 * runs on meanwhile, so that it may expire suspended.
 */
export const esimTransitions: Transitions<EsimStatus> = {
  inactive: ["active", "suspended"],
  active: ["suspended", "expired"],
  suspended: ["active", "expired"],
  expired: [],
};

export const activationStatuses = ["not_activated", "activated", "suspended", "expired"] as const;

/** The same state as the status record's `activation_status` names it. */
export const activationStatusOf: Readonly<Record<EsimStatus, (typeof activationStatuses)[number]>> = {
  inactive: "not_activated",
  active: "activated",
  suspended: "suspended",
  expired: "expired",
};
