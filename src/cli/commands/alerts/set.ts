import type { AlertKind } from "../../../core/store/schema/values.ts";
import { alertKinds } from "../../../core/store/schema/values.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { integer, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { addressOf, addressOptions, TARGET_JSON, targetResult } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Adds the target, or replaces the kinds of the one with this address. serve sends within a minute: once when " +
    "something is wrong, and once when it is over. Private addresses as serve --allow-private-webhooks says.",
  json: `${TARGET_JSON}, with the secret of a new webhook, which is shown this once; review_minutes where it was set`,
  examples: [
    "alerts set --email ops@example.com",
    "alerts set --webhook https://ops.example.com/hook --kinds stock.low,order.review",
    "alerts set --review-minutes 15",
  ],
  args: {},
  options: {
    ...addressOptions,
    kinds: text("--kinds <list>", `only these, with commas between: ${alertKinds.join(", ")}`),
    reviewMinutes: integer("--review-minutes <n>", "how long an order may wait in review (default 30)", {
      min: 1,
      max: 10_080,
    }),
  },
  async run(context, { kinds, reviewMinutes, ...given }) {
    const address = addressOf(given);
    if (address === null && (reviewMinutes === undefined || kinds !== undefined)) {
      throw usageError("There is nothing to set.", "Give --email or --webhook, or --review-minutes.");
    }
    const wanted = kinds === undefined ? null : kindsOf(kinds);
    const [{ setAlertTarget }, { setReviewMinutes }] = await Promise.all([
      import("../../../core/alerts/targets.ts"),
      import("../../../core/alerts/conditions.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const set = address && (await store.write(setAlertTarget, { ...address, kinds: wanted, actor: OPERATOR }));
      if (reviewMinutes !== undefined) await store.write(setReviewMinutes, reviewMinutes);
      const review = reviewMinutes === undefined ? {} : { review_minutes: reviewMinutes };
      const secret = set?.secret ? { secret: set.secret } : {};
      return targetResult({ ...set?.target, ...secret, ...review });
    });
  },
});

function kindsOf(typed: string): AlertKind[] {
  const words = typed
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  const unknown = words.find((word) => !alertKinds.some((kind) => kind === word));
  if (unknown !== undefined || words.length === 0) {
    throw usageError(`There is no kind "${unknown ?? ""}".`, `Kinds: ${alertKinds.join(", ")}.`);
  }
  return alertKinds.filter((kind) => words.includes(kind));
}
