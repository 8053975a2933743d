import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { activationCode, readActivationCode } from "../../../../core/esims/activation-code.ts";
import type { Cost } from "../../../../core/kernel/brand.ts";
import { iccidFault, plainDigits } from "../../../../core/kernel/iccid.ts";
import type { BoughtEsim } from "../../../../core/supply/provider.ts";
import { CURRENCY, costIn, Maybe, TextOrNumber } from "./values.ts";

const Sim = Type.Object({
  id: TextOrNumber,
  iccid: Type.String(),
  lpa: Maybe(Type.String()),
  matching_id: Maybe(Type.String()),
  qrcode: Maybe(Type.String()),
  confirmation_code: Maybe(TextOrNumber),
});

/** What is read of an order. It has more: `user` is personal, and never gets further than this. */
const Order = Type.Object({
  id: TextOrNumber,
  code: Maybe(Type.String()),
  currency: Maybe(Type.String()),
  net_price: Maybe(TextOrNumber),
  total_amount_paid: Maybe(TextOrNumber),
  status: Maybe(Type.Object({ slug: Maybe(Type.String()) })),
  sims: Maybe(Type.Array(Sim)),
});

/** An order of one eSIM, or a top-up. */
export type AiraloOrder = Static<typeof Order>;

const order = Compile(Order);
const single = Compile(Type.Object({ data: Order }));
const list = Compile(
  Type.Object({
    data: Type.Array(Type.Unknown()),
    links: Type.Optional(Type.Object({ next: Maybe(Type.String()) })),
  }),
);
const described = Compile(Type.Object({ description: Type.String() }));

/** The order that a body has; null: none. */
export function readOrder(body: unknown): AiraloOrder | null {
  return single.Check(body) ? body.data : null;
}

/**
 * The orders of a list with exactly this description: the search finds what is like it. Null: it does not show whether
 * there is one.
 */
export function readOrders(body: unknown, description: string): AiraloOrder[] | null {
  if (!list.Check(body)) return null;
  const named = body.data.filter((row) => described.Check(row) && row.description === description);
  const found = named.filter((row) => order.Check(row));
  // Where the search finds many others, what is missing may be on a later page.
  const isPart = found.length === 0 && typeof body.links?.next === "string";
  if (isPart || found.length < named.length) return null;
  return [...new Map(found.map((one) => [String(one.id), one])).values()];
}

/** How people name an order. */
export function referenceOf({ id, code }: AiraloOrder): string {
  return code || String(id);
}

/** What an order of one cost; null: it does not say so, as lists do not, or in another currency. */
export function costOfOrder({ currency, total_amount_paid, net_price }: AiraloOrder): Cost | null {
  return currency === CURRENCY ? (costIn(total_amount_paid) ?? costIn(net_price)) : null;
}

/** The eSIM of an order of one; null: it has none that could be installed, or another number of them. */
export function esimOf({ sims }: AiraloOrder): BoughtEsim | null {
  const [sim, ...others] = sims ?? [];
  if (sim === undefined || others.length > 0) return null;
  const code = codeOf(sim);
  const iccid = plainDigits(sim.iccid);
  if (code === null || iccidFault(iccid, { least: 13 }) !== null) return null;
  const confirmationCode = String(sim.confirmation_code ?? "").trim() || null;
  return { iccid, activationCode: code, confirmationCode, reference: String(sim.id) };
}

/** The activation code of its address and matching id, else of what its QR code says. */
function codeOf({ lpa, matching_id, qrcode }: Static<typeof Sim>): string | null {
  const read = [`LPA:1$${lpa ?? ""}$${matching_id ?? ""}`, qrcode ?? ""].map(readActivationCode);
  const [code] = read.flatMap((one) => ("ok" in one && one.ok.matching_id !== "" ? one.ok : []));
  if (code === undefined) return null;
  return activationCode({ smdp_address: code.smdp_address, matching_id: code.matching_id });
}
