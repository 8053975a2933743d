import type { CreatedOrder } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import { command } from "../../frame/command.ts";
import { integer, required, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { orderFields, undeliveredNote } from "./order.ts";

export default command({
  target: "partner",
  effects: "Charges the wallet and places the order, in one step; in the sandbox nothing is charged.",
  json: "the API's body: {id, order_number, status, total_price_cents, currency, wallet_balance_after_cents, …}",
  examples: [
    "orders create --partner acme --product ES-GLB-1GB-7D --quantity 2",
    "orders create --partner acme --sandbox --product ES-GLB-1GB-7D --quantity 1 --idempotency-key INV-2041",
  ],
  args: {},
  options: {
    product: required(text("--product <sku-or-id>", "what to order")),
    quantity: required(integer("--quantity <n>", "how many, 1 to 10000", { min: 1, max: 10_000 })),
    key: text("--idempotency-key <key>", "repeating it answers the same order; left out: a fresh one"),
  },
  async run(context, { product, quantity, key }) {
    return context.withApi(async (api) => {
      const body = { line_items: [{ product_id: await productId(api, product), quantity }] };
      const headers = { "idempotency-key": key ?? crypto.randomUUID() };
      const answer = await api.request<CreatedOrder>("POST", apiPath`/orders`, { body, headers });
      const order = answer.body;
      const replayed = answer.headers["idempotent-replayed"] === "true";
      const record = recordResult(order, (sheet) => ({
        ...orderFields(sheet, order),
        "wallet after": sheet.money(order.wallet_balance_after_cents, order.currency),
      }));
      if (replayed) context.note("This key made this order before.");
      const open = order.status === "paid" || order.status === "pending_payment";
      return { ...record, note: open ? await undeliveredNote(context) : undefined };
    });
  },
});
