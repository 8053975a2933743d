import { invalid } from "../kernel/problem.ts";
import {
  type DeliveryMethod,
  type OrderScenario,
  type SandboxScenario,
  scheduledMethods,
} from "../store/schema/values.ts";
import { insufficientBalance } from "../wallet/spendable.ts";
import type { PricedOrder } from "./price-lines.ts";

/** Whether a supplier delivers lines of this method. */
export function isSupplied(method: DeliveryMethod): boolean {
  return method === "supplier_api" || scheduledMethods.some((scheduled) => scheduled === method);
}

/**
 * The scenario that an order is created with; null: none. Throws `insufficient_balance` where that is what was asked
 * for, as of an empty wallet, and `validation` for a scenario that no line of the order can meet.
 */
export function scenarioOf(
  { scenario }: { scenario?: SandboxScenario | null },
  { lines, currency, total }: PricedOrder,
): OrderScenario | null {
  if (scenario === undefined || scenario === null) return null;
  if (scenario === "insufficient_balance") {
    throw insufficientBalance({ currency, amount: total }, { balance: 0, credit: null });
  }
  const methods = lines.map(({ product }) => product.delivery_method);
  const meets = scenario === "stock_short" ? methods.includes("stock") : methods.some(isSupplied);
  if (meets) return scenario;
  const words = scenario === "stock_short" ? "a product from stock" : "a product that a supplier delivers";
  throw invalid({ "X-Sandbox-Scenario": [`needs ${words} in the order`] });
}
