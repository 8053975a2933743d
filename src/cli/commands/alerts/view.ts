import type { AlertAddress, AlertTarget } from "../../../core/alerts/targets.ts";
import { excluding, text } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, shown } from "../../output/words.ts";

/** The keys of a target. */
export const TARGET_JSON =
  "{id, channel, address, kinds, failed_attempts, last_sent_at, last_at, last_error, created_at}";

/** How a target is named. */
export const addressOptions = {
  email: text("--email <address>", "a mailbox; serve --smtp-url says which server sends"),
  webhook: excluding(text("--webhook <url>", "an address that takes signed POSTs, as webhooks are"), "--email"),
};

/** The address that was given; null: none. */
export function addressOf({ email, webhook }: { email?: string | undefined; webhook?: string | undefined }) {
  if (email !== undefined) return { channel: "email", address: email } satisfies AlertAddress;
  return webhook === undefined ? null : ({ channel: "webhook", address: webhook } satisfies AlertAddress);
}

export const targetColumns: Column<AlertTarget>[] = [
  { title: "to", value: (one) => one.address },
  { title: "kinds", value: (one) => one.kinds?.join(", ") ?? "all", wraps: true },
  { title: "last sent", value: (one) => (one.last_sent_at === null ? null : moment(one.last_sent_at)) },
  {
    title: "failing",
    value: (one) => (one.failed_attempts === 0 ? null : `${one.failed_attempts}×: ${shown(one.last_error)}`),
    wraps: true,
  },
];

/** A target, or settings, with a line for each member. */
export function targetResult(json: Readonly<Record<string, unknown>>): Result {
  const lines = () => Object.entries(json).map(([name, value]) => [name.replaceAll("_", " "), wordsOf(name, value)]);
  return recordResult(json, () => Object.fromEntries(lines()));
}

function wordsOf(name: string, value: unknown): string {
  if (name === "kinds") return Array.isArray(value) ? value.join(", ") : "all";
  return value === null ? "-" : String(value);
}
