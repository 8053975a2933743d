import type { CancelPreview } from "../../../core/orders/cancel.ts";
import { command } from "../../command.ts";
import { OPERATOR } from "../../context.ts";
import { argument, required, text } from "../../input.ts";
import { decided, REVIEWED_JSON } from "./review.ts";

export const cancel = command({
  name: "cancel",
  summary: "cancel what was not delivered of an order, and refund exactly that",
  stand: "operator",
  effects: "Nothing delivered: the order is cancelled; else it ends fulfilled without the cancelled lines. Asks first.",
  json: REVIEWED_JSON,
  examples: ['orders cancel ORD-20260301-7KQ2M --reason "customer changed her mind"'],
  args: { id: argument("id", "the order's id or number") },
  options: { reason: required(text("--reason <text>", "why, for the partner and the audit trail")) },
  async run(context, { id, reason }) {
    const [{ cancelOrder, previewCancel }, { findOrderId }, { formatMoney }] = await Promise.all([
      import("../../../core/orders/cancel.ts"),
      import("../../../core/orders/order.ts"),
      import("../../../core/kernel/money.ts"),
    ]);
    return context.withStore(async (opened) => {
      const { store } = opened;
      const orderId = await store.read(findOrderId, id);
      const preview = await store.read(previewCancel, orderId);
      await context.confirm(question(preview, formatMoney(preview.refund_cents, preview.currency)));
      return decided(opened, await store.write(cancelOrder, { id: orderId, reason, actor: OPERATOR }));
    });
  },
});

function question(preview: CancelPreview, refund: string): string {
  const { order_number, ends_as, currency, esims_to_stock, events } = preview;
  const consequences = [
    `it ends ${ends_as}`,
    `${refund} ${currency} go back`,
    `${esims_to_stock} eSIMs return to stock`,
    `sends ${events.join(", ")}`,
  ];
  return `Cancel ${order_number}? ${consequences.join("; ")}.`;
}
