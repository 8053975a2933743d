import { moveStock } from "../../../core/esims/move-stock.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { actPage } from "../../parts/act-page.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, field, integerField, requiredField } from "../../session/visit.ts";

const move = actPage({
  // Whose stock it is may be in the address.
  read: async ({ query }: ConsoleVisit) => ({ sku: field(query, "sku") }),
  ...{ at: () => "/stock", verb: "move", title: () => "Move eSIMs to another product", button: "Move" },
  fields: ({ sku }) => [
    { name: "from", label: "From (SKU)", value: sku, required: true },
    { name: "to", label: "To (SKU)", required: true },
    { name: "count", label: "eSIMs", inputmode: "numeric", required: true },
    "The newest free ones change their product. What orders have reserved stays.",
  ],
  command: moveStock,
  input: ({ form, actor }) => ({
    from: requiredField(form, "from"),
    to: requiredField(form, "to"),
    count: integerField(form, "count"),
    actor,
  }),
  foresee: ({ moved, from, to }) => {
    const after = `Then ${from.sku} has ${from.available} free, and ${to.sku} has ${to.available}.`;
    return <p>{`${counted(moved, "eSIM")} of ${from.sku} become ${to.sku}. ${after}`}</p>;
  },
  done: ({ moved, to }) => `${counted(moved, "eSIM")} moved to ${to.sku}.`,
});

/** Moves free eSIMs of one product to another. */
export const stockMovePages = [consolePage({ path: "/stock/move", needs: "stock.write", ...move })];
