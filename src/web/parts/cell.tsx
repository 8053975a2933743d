import type { ComponentChildren } from "preact";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { Visit } from "../session/visit.ts";
import { type Cell, moneyWords, plain, timeWords } from "./words.ts";

const good = new Set([
  "active",
  "fulfilled",
  "completed",
  "delivered",
  "verified",
  "credited",
  "activated",
  "confirmed",
  "ok",
  "serving",
]);
const bad = new Set([
  "failed",
  "rejected",
  "suspended",
  "exhausted",
  "cancelled",
  "expired",
  "revoked",
  "disabled",
  "fault",
  "failing",
  "lost",
]);

/** A state as a word with a color of its own. */
function Status({ word }: { word: string }) {
  const kind = good.has(word) ? "good" : bad.has(word) ? "bad" : "open";
  return <span class={`status ${kind}`}>{plain(word)}</span>;
}

/** A moment in the user's zone; its title is UTC. `exact`: to the second. */
export function Time({ at, zone, exact }: { at: string | null; zone: string; exact?: true | undefined }) {
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={`${at.slice(0, exact ? 19 : 16).replace("T", " ")} UTC`}>
      {timeWords(at, zone, exact)}
    </time>
  );
}

/** How much of something is used up, as a bar with words; words alone where there is no most. */
function Meter({ meter, most, text }: { meter: number; most: number; text: string }) {
  if (most <= 0) return <>{text}</>;
  return (
    <>
      <meter class="meter" min={0} max={most} value={Math.min(meter, most)} aria-label={text} />{" "}
      <span class="hint">{text}</span>
    </>
  );
}

/** A cell of a list or a record. No component: lists have hundreds, and each of those takes as long as its elements. */
export function cellShown(cell: Cell, { zone, base }: Pick<Visit, "zone" | "base">): ComponentChildren {
  if (cell === null || cell === "") return "–";
  if (typeof cell === "number") return cell.toLocaleString("en");
  if (typeof cell === "string") return withoutHidden(cell);
  if ("time" in cell) return Time({ at: cell.time, zone, exact: cell.exact });
  if ("money" in cell) return <span class="money">{moneyWords(cell.money, cell.currency)}</span>;
  if ("status" in cell) return Status({ word: cell.status });
  if ("meter" in cell) return Meter(cell);
  if ("copy" in cell) return <code data-copy="">{withoutHidden(cell.copy)}</code>;
  return <a href={"to" in cell ? `${base}${cell.to}` : cell.href}>{withoutHidden(cell.text)}</a>;
}
