import { type SandboxScenario, sandboxScenarios } from "../../../core/store/schema/values.ts";
import type { CreatedOrder } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { confirmSuspended } from "../../frame/confirm-suspended.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { choice, decimal, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { lineOptions, type Ordered, orderedLine, refuseMissing } from "./line.ts";
import { orderFields, undeliveredNote } from "./order.ts";

export default command({
  target: "partner",
  effects:
    "Charges the wallet and places the order, in one step; in the sandbox nothing is charged. Products that are " +
    "delivered on a day need a traveler for each unit. At a terminal it asks for what is left out, shows a summary " +
    "and asks before it orders. With --max-total a dearer order is refused (exit code 1), and nothing is charged.",
  json: "the API's body: {id, order_number, status, total_price_cents, currency, wallet_balance_after_cents, …}",
  examples: [
    "orders create --partner acme --product ES-GLB-1GB-7D --quantity 2 --max-total 12.50",
    "orders create --partner acme --sandbox --product ES-GLB-1GB-7D --quantity 1 --idempotency-key INV-2041",
    "orders create --partner acme --sandbox --product ES-GLB-1GB-7D --quantity 1 --scenario stock_short",
    "orders create --product EM-MG-8GB-30D --quantity 1 --name Ada --email ada@example.com --date 2027-11-01",
    "orders create --partner acme",
  ],
  args: {},
  options: {
    ...lineOptions,
    scenario: choice("--scenario <scenario>", sandboxScenarios, "in the sandbox: how the order ends"),
    externalOrderId: text("--external-order-id <id>", "your own id, kept with the order; it is no idempotency key"),
    key: text("--idempotency-key <key>", "repeating it answers the same order; left out: a fresh one"),
    maxTotal: decimal("--max-total <amount>", "the most that the order may cost, in the product's currency: 12.50"),
  },
  async run(context, { key, maxTotal, scenario, externalOrderId, ...given }) {
    refuseMissing(context, given, "create");
    return context.withApi(async (api) => {
      await confirmSuspended(context, api);
      const ordered = await orderedLine(context, api, given);
      const max_total_cents = await mostCents(ordered, maxTotal);
      const { detail, count, asked } = ordered;
      if (detail !== null && asked) {
        const changes = async (sheet: Sheet) => summary(sheet, { ...ordered, detail });
        await context.confirm(`Order ${count} × ${detail.sku}?`, { whose: api.actsAs, changes });
      }
      const body = {
        ...ordered.body,
        ...(max_total_cents === undefined ? {} : { max_total_cents }),
        ...(externalOrderId === undefined ? {} : { external_order_id: externalOrderId }),
      };
      return place(context, api, { body, key, scenario });
    });
  },
});

/** The amount of --max-total in minor units of the product's currency. */
async function mostCents({ detail }: Ordered, maxTotal: string | undefined): Promise<number | undefined> {
  if (maxTotal === undefined) return undefined;
  if (detail === null) {
    const hint = "Use a credential with the scope read:products, or leave --max-total out.";
    throw usageError("--max-total needs the currency of the product, which this credential may not read.", hint);
  }
  const { parseAnyAmount } = await import("../../kernel/amount.ts");
  return parseAnyAmount(maxTotal, detail.currency, "--max-total");
}

interface Placed {
  body: unknown;
  key: string | undefined;
  scenario: SandboxScenario | undefined;
}

async function place(context: Context, api: Api, { body, key, scenario }: Placed) {
  const asked: Record<string, string> = scenario === undefined ? {} : { "x-sandbox-scenario": scenario };
  const headers = { "idempotency-key": key ?? crypto.randomUUID(), ...asked };
  const sent = api.request<CreatedOrder>("POST", apiPath`/orders`, { body, headers });
  const answer = await sent.catch(refuseDearer);
  const order = answer.body;
  const replayed = answer.headers["idempotent-replayed"] === "true";
  const record = recordResult(order, (sheet) => ({
    ...orderFields(sheet, order),
    "wallet after": sheet.money(order.wallet_balance_after_cents, order.currency),
  }));
  if (replayed) context.note("This key made this order before.");
  const open = order.status === "paid" || order.status === "pending_payment";
  return { ...record, note: open ? await undeliveredNote(context) : undefined };
}

/** Rethrows the refusal of a dearer order with what to do here. */
function refuseDearer(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== "price_changed") throw error;
  const hint = "Nothing was charged. Look at it with esimctl orders quote, or give a higher --max-total.";
  throw new CliError(error.code, error.message, hint, error.exitCode, error);
}

function summary(sheet: Sheet, { detail, count, requests }: Ordered & { detail: NonNullable<Ordered["detail"]> }) {
  const { sku, name, price_cents, currency } = detail;
  const who = requests.map((one) => `${one.customer_name}, ${one.customer_email}, on ${one.activation_date}`);
  return sheet.fields({
    product: `${sku}: ${name}`,
    quantity: String(count),
    price: `${sheet.money(price_cents, currency)} each`,
    total: sheet.money(price_cents * count, currency),
    ...Object.fromEntries(who.map((words, at) => [who.length === 1 ? "traveler" : `traveler ${at + 1}`, words])),
  });
}
