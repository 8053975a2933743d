import { applyBundles } from "./esimgo-apply.ts";
import { listAssignments, showAssignments, showCompatible } from "./esimgo-assignments.ts";
import { type EsimgoEndpoint, EsimgoRefusal } from "./esimgo-call.ts";
import { listCatalogue, showBundle } from "./esimgo-catalogue.ts";
import {
  deactivateEsim,
  listEsims,
  listHistory,
  showEsim,
  showLocation,
  showSuspension,
  suspendEsim,
  updateEsim,
} from "./esimgo-esims.ts";
import { showInstallDetails } from "./esimgo-install-details.ts";
import { listInventory, refundInventory } from "./esimgo-inventory.ts";
import { listNetworks } from "./esimgo-networks.ts";
import { listOrders, showOrder } from "./esimgo-order-list.ts";
import { order } from "./esimgo-orders.ts";
import { listGroups, showOrganisation } from "./esimgo-organisation.ts";
import { revokeAssignment, revokeBundle } from "./esimgo-revoke.ts";

/** `*` is a name. The first that fits is it. */
const endpoints: [method: string, path: string, endpoint: EsimgoEndpoint][] = [
  ["GET", "/catalogue", listCatalogue],
  ["GET", "/catalogue/bundle/*", showBundle],
  ["GET", "/networks", listNetworks],
  ["GET", "/organisation", showOrganisation],
  ["GET", "/organisation/groups", listGroups],
  ["POST", "/orders", order],
  ["GET", "/orders", listOrders],
  ["GET", "/orders/*", showOrder],
  ["GET", "/inventory", listInventory],
  ["POST", "/inventory/refund", refundInventory],
  ["POST", "/esims/apply", applyBundles],
  ["GET", "/esims/assignments", showInstallDetails],
  ["GET", "/esims", listEsims],
  ["PUT", "/esims", updateEsim],
  ["GET", "/esims/*", showEsim],
  ["DELETE", "/esims/*", deactivateEsim],
  ["GET", "/esims/*/history", listHistory],
  ["GET", "/esims/*/location", showLocation],
  ["GET", "/esims/*/suspend", showSuspension],
  ["POST", "/esims/*/suspend", suspendEsim],
  ["GET", "/esims/*/bundles", listAssignments],
  ["GET", "/esims/*/bundles/*", showAssignments],
  ["DELETE", "/esims/*/bundles/*", revokeBundle],
  ["DELETE", "/esims/*/bundles/*/assignments/*", revokeAssignment],
  ["GET", "/esims/*/compatible/*", showCompatible],
];

/** What answers a path, with the names in it. Throws a refusal (404) where nothing does. */
export function endpointFor(method: string, path: string): { endpoint: EsimgoEndpoint; names: string[] } {
  for (const [answered, pattern, endpoint] of endpoints) {
    const names = answered === method ? namesIn(path, pattern) : null;
    if (names !== null) return { endpoint, names };
  }
  throw new EsimgoRefusal(404, "Not Found");
}

function namesIn(path: string, pattern: string): string[] | null {
  const found = new RegExp(`^${pattern.replaceAll("*", "([^/]+)")}$`).exec(path);
  return found === null ? null : found.slice(1).map(decoded);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new EsimgoRefusal(400, "Invalid path");
  }
}
