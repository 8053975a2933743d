import { counted } from "../kernel/counted.ts";

/** How a delivery is sent again, for people. */
export const AGAIN = "with all its attempts and the same event ID";

/** How many deliveries are sent again, for people. */
export function onTheWay(count: number): string {
  return `${counted(count, "delivery", "deliveries")} ${count === 1 ? "is" : "are"} on the way again.`;
}
