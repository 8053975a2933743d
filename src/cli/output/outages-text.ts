import type { Outage } from "../../core/platform/outages.ts";
import type { Sheet } from "./sheet.ts";
import { ago, moment } from "./words.ts";

/** Suppliers and carriers that fail, since when, why, and what follows. */
export function outagesText(sheet: Sheet, outages: readonly Outage[], now: string): string {
  const { red } = sheet.paint;
  return sheet.table(
    [
      { title: "fails", value: ({ kind, name }) => `${kind} ${name}`, paint: () => red },
      { title: "since", value: ({ since }) => ago(since, now) },
      { title: "failures", value: ({ failures }) => failures, align: "right" },
      { title: "waiting", value: ({ waiting }) => waiting, align: "right" },
      {
        title: "next attempt",
        value: ({ next_attempt_at }) => (next_attempt_at === null ? "none by itself" : moment(next_attempt_at)),
      },
      { title: "last error", value: ({ last_error }) => last_error, wraps: true },
    ],
    outages,
    "",
  );
}
