import type { Picks } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { shown } from "../../output/words.ts";

/** Choices that a person finds one among by typing; those behind them wait less long. */
const MOST = 500;

/** A request that is with its carrier or waits for staff. */
export const queuedRequest: Picks = {
  question: "Request, by ICCID, customer or partner:",
  async choices(store) {
    const { activationQueue } = await import("../../../core/activations/queue.ts");
    const { data } = await store.read(activationQueue, { limit: MOST });
    if (data.length === 0) {
      const what = "Nothing is with carriers, and nothing waits for staff.";
      throw new CliError("nothing_waits", what, "esimctl activations list shows all, with their status.");
    }
    return data.map(({ id, iccid, customer_name, partner, processing_status }) => ({
      value: id,
      name: `${iccid}  ${shown(customer_name)}  ${partner}  ${processing_status}`,
    }));
  },
};
