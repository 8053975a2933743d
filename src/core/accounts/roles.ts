import type { PartnerRole, StaffRole } from "../store/schema/values.ts";

/** What a page or an act of the portal needs. */
export const portalPermissions = [
  "overview",
  "catalog.read",
  "orders.read",
  "orders.write",
  "esims.read",
  "esims.write",
  "activations.read",
  "activations.write",
  "passports.read",
  "passports.write",
  "wallet.read",
  "wallet.fund",
  "developers.read",
  "developers.write",
  "team",
] as const;
export type PortalPermission = (typeof portalPermissions)[number];

/** What a page or an act of the console needs. */
export const consolePermissions = [
  "today",
  "partners.read",
  "partners.write",
  "view_as",
  "orders.read",
  "orders.write",
  "orders.pause",
  "esims.read",
  "esims.write",
  "activations.read",
  "activations.write",
  "passports.read",
  "passports.write",
  "reveal",
  "catalog.read",
  "catalog.write",
  "stock.read",
  "stock.write",
  "suppliers.read",
  "suppliers.write",
  "money.read",
  "money.write",
  "credentials.write",
  "deliveries.write",
  "platform.read",
  "logs.read",
  "users",
] as const;
export type ConsolePermission = (typeof consolePermissions)[number];

const reading = ["overview", "catalog.read"] as const;

/** What each role of a partner's people may do: the one table of it. */
const portalRoles: Readonly<Record<PartnerRole, readonly PortalPermission[]>> = {
  owner: portalPermissions,
  developer: [...reading, "developers.read", "developers.write"],
  agent: [
    ...reading,
    "orders.read",
    "orders.write",
    "esims.read",
    "esims.write",
    "activations.read",
    "activations.write",
    "passports.read",
    "passports.write",
    "wallet.read",
  ],
  viewer: [...reading, "orders.read", "esims.read", "activations.read", "passports.read", "wallet.read"],
};

const lists = ["today", "partners.read", "orders.read", "catalog.read"] as const;

/** The same of the operator's staff. `reveal` may also be granted to a user alone. */
const consoleRoles: Readonly<Record<StaffRole, readonly ConsolePermission[]>> = {
  admin: consolePermissions,
  support: [
    ...lists,
    "view_as",
    "orders.write",
    "esims.read",
    "esims.write",
    "activations.read",
    "activations.write",
    "passports.read",
    "passports.write",
    "stock.read",
    "suppliers.read",
    "deliveries.write",
  ],
  finance: [...lists, "money.read", "money.write", "catalog.write", "stock.read"],
  viewer: [
    ...lists,
    "esims.read",
    "activations.read",
    "passports.read",
    "stock.read",
    "suppliers.read",
    "money.read",
    "platform.read",
  ],
};

/** Whether a partner's role allows it. */
export function mayInPortal(role: PartnerRole, permission: PortalPermission): boolean {
  return portalRoles[role].includes(permission);
}

/** Whether a member of staff may do it: by the role, or by the grant to reveal. */
export function mayInConsole(
  { role, reveal }: { role: StaffRole; reveal: boolean },
  permission: ConsolePermission,
): boolean {
  return consoleRoles[role].includes(permission) || (permission === "reveal" && reveal);
}
