import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { processing, readJson } from "./esimgo-call.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";
import type { SimulatedCall } from "./steering.ts";

const bought = Compile(
  Type.Object({
    type: Type.Optional(Type.Unknown()),
    order: Type.Optional(Type.Array(Type.Object({ iccids: Type.Optional(Type.Array(Type.Unknown())) }))),
  }),
);
const applied = Compile(Type.Object({ iccid: Type.Optional(Type.Unknown()) }));

/**
 * POST /orders and POST /esims/apply are a top-up where they name an eSIM, and an order where they do not; revokes and
 * refunds are a cancel; every look at orders, inventory and eSIMs is a query. A price or a revoke that is only asked
 * for (`type` of validate) is none, and so is a refresh of catalogue and account.
 */
export function esimgoCallOf({
  method,
  path,
  query,
  body,
}: Pick<ProviderRequest, "method" | "path" | "query" | "body">): SimulatedCall | null {
  if (method === "GET") return /^\/(orders|inventory|esims)(\/|$)/.test(path) ? "query" : null;
  if (method === "POST" && path === "/inventory/refund") return "cancel";
  if (method === "DELETE" && /^\/esims\/[^/]+\/bundles\//.test(path)) {
    return query.get("type") === "validate" ? null : "cancel";
  }
  if (method === "POST" && path === "/orders") {
    const read = readJson(body);
    if (!bought.Check(read)) return "order";
    if (read.type === "validate") return null;
    return read.order?.some(({ iccids = [] }) => iccids.length > 0) ? "topup" : "order";
  }
  if (method === "POST" && path === "/esims/apply") {
    const read = readJson(body);
    return applied.Check(read) && read.iccid !== undefined ? "topup" : "order";
  }
  return null;
}

const refusals: Record<SimulatedCall, string> = {
  order: "out of stock",
  topup: "bundle cannot be applied to this eSIM",
  cancel: "bundle cannot be refunded",
  query: "request is refused",
};

/** The answer to a steered call of which nothing is done; null: it goes its way. */
export function steeredAway(call: SimulatedCall | null, steered: ProviderRequest["steered"]): ProviderAnswer | null {
  if (steered?.outcome === "busy") return processing();
  if (steered?.outcome !== "refuse") return null;
  return { status: 400, body: { message: refusals[call ?? "query"] } };
}
