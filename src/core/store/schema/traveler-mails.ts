import { sql } from "drizzle-orm";
import type { EsimId, PartnerId, TravelerMailId } from "../../kernel/brand.ts";
import type { esimsTables } from "./esims.ts";
import { type Kit, leaseColumns } from "./kit.ts";
import type { TravelerMailStatus } from "./values.ts";

/** The mails by which sold eSIMs are sent to their travelers. */
export function travelerMailsTables(k: Kit, { esims }: Pick<ReturnType<typeof esimsTables>, "esims">) {
  const travelerMails = k.table(
    "traveler_mails",
    {
      id: k.text("id").$type<TravelerMailId>().primaryKey(),
      esim_id: k
        .text("esim_id")
        .$type<EsimId>()
        .notNull()
        .references(() => esims.id),
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      /** Whether it goes to the customer of the order, whose address is there and not here. */
      to_customer: k.flag("to_customer").notNull(),
      /** Another address while the mail waits, sealed by the vault; null: it goes to the customer, or has ended. */
      address_sealed: k.text("address_sealed"),
      /** The address with all but its first character hidden. */
      masked: k.text("masked").notNull(),
      status: k.text("status").$type<TravelerMailStatus>().notNull(),
      /** When it is tried next, or the lease of who sends it ends; null: it has ended. */
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      /** Attempts that failed, and why the last one did, or why it was not sent at all. */
      failed_attempts: k.int("failed_attempts").notNull(),
      reason: k.text("reason"),
      created_by: k.text("created_by").notNull(),
      created_at: k.int("created_at").notNull(),
      ended_at: k.int("ended_at"),
    },
    (t) => [
      k.index("traveler_mails_esim").on(t.esim_id, t.created_at, t.id),
      k.index("traveler_mails_due").on(t.due_at, t.id).where(sql`due_at is not null`),
      // Nothing keeps an address that no worker looks at any more.
      k.check(
        "traveler_mails_ended",
        sql`(status = 'waiting') = (due_at is not null) and (status = 'waiting' or address_sealed is null)`,
      ),
    ],
  );
  return { travelerMails };
}
