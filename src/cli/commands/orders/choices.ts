import type { Picks } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { shown } from "../../output/words.ts";

/** Choices that a person finds one among by typing; those behind them wait less long. */
const MOST = 500;

/** An order that waits for review. */
export const heldOrder: Picks = {
  question: "Order that waits for review:",
  async choices(store) {
    const { heldOrders } = await import("../../../core/orders/queue.ts");
    const { data } = await store.read(heldOrders, { limit: MOST });
    if (data.length === 0) throw nothingWaits("No order waits for review.", "orders list");
    return data.map(({ order_number, partner, product_sku, quantity, reason }) => ({
      value: order_number,
      name: `${order_number}  ${partner}  ${quantity} × ${product_sku}  ${shown(reason ?? "being delivered")}`,
    }));
  },
};

/** An order whose SIM cards wait to be shipped. */
export const orderToShip: Picks = {
  question: "Order to ship:",
  async choices(store) {
    const { linesToShip } = await import("../../../core/orders/queue.ts");
    const { data } = await store.read(linesToShip, { limit: MOST });
    if (data.length === 0) throw nothingWaits("No SIM card waits to be shipped.", "orders list");
    const orders = Map.groupBy(data, ({ order_number }) => order_number);
    return [...orders].map(([number, lines]) => {
      const cards = lines.map(({ quantity, product_sku }) => `${quantity} × ${product_sku}`).join(", ");
      return { value: number, name: `${number}  ${lines[0]?.partner ?? ""}  ${cards}` };
    });
  },
};

function nothingWaits(what: string, list: string): CliError {
  return new CliError("nothing_waits", what, `esimctl ${list} shows all, with their status.`);
}
