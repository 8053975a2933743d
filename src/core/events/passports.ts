import { isoTime } from "../kernel/clock.ts";
import { defineEvent } from "./definition.ts";
import { date, payload, uuid } from "./payload.ts";

const DAY_MS = 86_400_000;

/** Events about the identity pool. They say nothing of whose passport it is. */
export const passportEvents = {
  "passport.expiring": defineEvent({
    when: "A passport of the pool expires within 60 days. Once for a document and its expiry.",
    emitted: true,
    subject: "passport",
    namesPeople: false,
    data: payload({
      id: uuid,
      passport_country: { type: "string", description: "ISO 3166-1 alpha-3" },
      passport_expiry: date,
    }),
    sample: ({ subjectId: id, now }) => ({
      id,
      passport_country: "GBR",
      passport_expiry: isoTime(now + 60 * DAY_MS).slice(0, 10),
    }),
  }),
};
