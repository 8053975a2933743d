import type { PartnerId } from "../../kernel/brand.ts";
import type { Kit } from "./kit.ts";
import type { partnersTables } from "./partners.ts";

/** How far the sandbox clock of each partner is ahead. A partner without a row has the system's time. */
export function sandboxTables(k: Kit, { partners }: Pick<ReturnType<typeof partnersTables>, "partners">) {
  const sandboxClocks = k.table("sandbox_clocks", {
    partner_id: k
      .text("partner_id")
      .$type<PartnerId>()
      .primaryKey()
      .references(() => partners.id),
    ahead_ms: k.int("ahead_ms").notNull(),
    /** Until when, by this clock, all notices of expiry are written. Null: an earlier version advanced the clock. */
    notices_through: k.int("notices_through"),
  });
  return { sandboxClocks };
}
