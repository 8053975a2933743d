import type { Picks } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { shown } from "../../output/words.ts";

/** Choices that a person finds one among by typing; those behind them wait less long. */
const MOST = 500;

/** A passport that awaits verification. */
export const unverifiedPassport: Picks = {
  question: "Passport that awaits verification:",
  async choices(store) {
    const { verificationQueue } = await import("../../../core/passports/operator-view.ts");
    const { data } = await store.read(verificationQueue, { limit: MOST });
    if (data.length === 0) {
      throw new CliError("nothing_waits", "Nothing awaits verification.", "esimctl passports list shows a whole pool.");
    }
    return data.map(({ id, first_name, last_name, passport_country, passport_expiry, partner }) => ({
      value: id,
      name: `${shown(`${first_name} ${last_name}`)}  ${passport_country}  ${passport_expiry}  ${partner}  ${id}`,
    }));
  },
};
