import { type SandboxScenario, sandboxScenarios } from "../../../core/store/schema/values.ts";
import type { Column } from "../../parts/list.tsx";
import { table } from "../../parts/shown.tsx";
import type { PortalVisit } from "../../session/visit.ts";

const stocked = "a product from stock";
const supplied = "a product that a supplier delivers";

/** What each scenario does, for people (docs/api.md): what the order needs, and what comes of it. */
const scenarios: { readonly [S in SandboxScenario]: readonly [needs: string | null, comes: string] } = {
  insufficient_balance: [
    null,
    "It is refused with 402 insufficient_balance, as with an empty wallet; the idempotency key stays free.",
  ],
  stock_short: [stocked, "It is placed, and waits for review within seconds."],
  supplier_refused: [
    supplied,
    "It is placed, and fails; where other lines were delivered, it waits for review. Travelers' items send " +
      "activation.failed, the order order.failed.",
  ],
  supplier_timeout: [
    supplied,
    "It is placed and its items are submitted, with activation.submitted for travelers; then it waits for review, " +
      "as after two days without a response.",
  ],
};

const columns: Column<SandboxScenario>[] = [
  { title: "Scenario", cell: (name) => name },
  { title: "The order needs", cell: (name) => scenarios[name][0] },
  { title: "What comes of it", cell: (name) => scenarios[name][1] },
];

/** How orders of the sandbox are made to end as those of production may end. */
export function scenariosShown(visit: PortalVisit) {
  return (
    <section>
      <h2>Scenarios of orders</h2>
      <p>
        The header <code>X-Sandbox-Scenario</code> of an order by the API ends it as production may end it. In a bulk
        order it does so with each order.
      </p>
      {table(visit, { caption: "Scenarios of orders", rows: sandboxScenarios }, columns)}
    </section>
  );
}
