import { and, gte, lt } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { statement } from "../store/statement.ts";
import type { Read, ReplicaLook, Tx } from "../store/store.ts";
import { storeValue } from "../store/stored-value.ts";

/** How often a daemon records that it serves (ms). */
export const BEAT_MS = 10_000;
/** A daemon that has recorded nothing for this long (ms) is not running any more. */
const LOST_AFTER_MS = 3 * BEAT_MS;

/** What a daemon records of itself, as the value of a setting. */
interface Beat {
  url: string;
  /** When it started, when it recorded this, and when it was stopped; null: it was not. All in ms. */
  since: number;
  seen_at: number;
  stopped_at: number | null;
  /** How far its clock was ahead of the database's (ms), null: not compared yet; left out by earlier versions. */
  clock_ahead_ms?: number | null;
  /** Whether it ran the jobs of the calendar; left out by earlier versions, and where it did not. */
  runs_cron?: true;
  /** Whether it sends mail to people; left out by earlier versions, and where it does not. */
  sends_mail?: true;
  /** How its replica followed; left out where it has none. */
  replica?: ReplicaState;
}

/** How the replica of a daemon followed when it was last looked at. */
export interface ReplicaState {
  /** Only one that is `used` answers reads (`ReplicaLook`). */
  state: ReplicaLook["state"];
  lag_ms: number | null;
}

/** A daemon that serves, or did. */
export interface ServingNode {
  url: string;
  since: string;
  last_seen_at: string;
  /** `lost`: it recorded nothing lately and was not stopped. */
  state: "serving" | "stopped" | "lost";
  /** How far its clock was ahead of the database's when it was last seen (ms); null: it was not compared yet. */
  clock_ahead_ms: number | null;
  /** Whether it runs the jobs of the calendar: one of the nodes that serve does. */
  runs_cron: boolean;
  /** Whether it serves and sends mail to people. */
  sends_mail: boolean;
  /** Null: it reads from none. */
  replica: ReplicaState | null;
}

/** Whether anything serves the platform. */
export interface ServingState {
  serving: boolean;
  /** Since when it is served, or no longer is; null: it never was. */
  since: string | null;
  nodes: ServingNode[];
}

/**
 * The same where the lock of the data directory says that nothing serves it: a daemon that was killed has recorded
 * nothing of its end, and its last beat is up to a minute old.
 */
export function withoutDaemon(state: ServingState): ServingState {
  const nodes = state.nodes.map((node) => (node.state === "serving" ? { ...node, state: "lost" as const } : node));
  const seen = state.nodes.filter((node) => node.state === "serving").map(({ last_seen_at }) => last_seen_at);
  return { serving: false, since: seen.sort().at(-1) ?? state.since, nodes };
}

// The keys of the settings that hold beats are all there is between these two.
const FIRST = "serving:";
const END = "serving;";

const all = statement((db, t, _slot) =>
  db
    .select()
    .from(t.settings)
    .where(and(gte(t.settings.key, FIRST), lt(t.settings.key, END)))
    .orderBy(t.settings.key),
);

/** A daemon, by an ID of this one start. */
export interface ServingDaemon {
  node: string;
  url: string;
  /** When it started (ms). */
  since: number;
  /** No other daemon can serve this database. */
  alone: boolean;
}

/** A daemon at a beat. */
export interface BeatingDaemon extends ServingDaemon {
  /** How far its clock is ahead of the database's (ms), null: it was not compared yet; left out: they agree. */
  clockAheadMs?: number | null;
  /** Whether it runs the jobs of the calendar; left out: no. */
  runsCron?: boolean;
  /** Whether it sends mail to people; left out: no. */
  sendsMail?: boolean;
  /** How its replica follows; left out or null: it has none, or has not looked at it yet. */
  replica?: ReplicaLook | null;
}

/** Records that a daemon serves. The records of daemons that no longer do are dropped: of one alone, all others. */
export async function recordBeat(tx: Tx, { node, url, since, alone, ...now }: BeatingDaemon): Promise<void> {
  for (const { key, value } of await all(tx, {})) {
    if (key === FIRST + node) continue;
    if (alone || stateOf(beatOf(value), tx.now) !== "serving") await storeValue(tx, key, null);
  }
  const { clockAheadMs: clock_ahead_ms = 0, runsCron = false, sendsMail = false, replica = null } = now;
  const beat: Beat = { url, since, seen_at: tx.now, stopped_at: null, clock_ahead_ms };
  if (runsCron) beat.runs_cron = true;
  if (sendsMail) beat.sends_mail = true;
  if (replica !== null) beat.replica = { state: replica.state, lag_ms: replica.lagMs };
  await storeValue(tx, FIRST + node, textOf(beat));
}

/** Records that a daemon was stopped. */
export async function recordStop(tx: Tx, { node, url, since }: ServingDaemon): Promise<void> {
  await storeValue(tx, FIRST + node, textOf({ url, since, seen_at: tx.now, stopped_at: tx.now }));
}

/** Whether the platform is served, and since when. */
export async function servingState(q: Read): Promise<ServingState> {
  const beats = (await all(q, {})).map(({ value }) => beatOf(value));
  const live = beats.filter((beat) => stateOf(beat, q.now) === "serving");
  const since = live.length > 0 ? Math.min(...live.map((beat) => beat.since)) : lastEnd(beats);
  const nodes = beats.map((beat) => ({
    url: beat.url,
    since: isoTime(beat.since),
    last_seen_at: isoTime(beat.seen_at),
    state: stateOf(beat, q.now),
    clock_ahead_ms: beat.clock_ahead_ms === undefined ? 0 : beat.clock_ahead_ms,
    runs_cron: beat.runs_cron === true && stateOf(beat, q.now) === "serving",
    sends_mail: beat.sends_mail === true && stateOf(beat, q.now) === "serving",
    replica: beat.replica ?? null,
  }));
  return { serving: live.length > 0, since: since === null ? null : isoTime(since), nodes };
}

/** Whether any daemon that serves the database sends mail to people. */
export async function anyNodeMails(q: Read): Promise<boolean> {
  return (await servingState(q)).nodes.some(({ sends_mail }) => sends_mail);
}

function lastEnd(beats: readonly Beat[]): number | null {
  return beats.length === 0 ? null : Math.max(...beats.map(({ stopped_at, seen_at }) => stopped_at ?? seen_at));
}

function stateOf({ stopped_at, seen_at }: Beat, now: number): ServingNode["state"] {
  if (stopped_at !== null) return "stopped";
  return now - seen_at > LOST_AFTER_MS ? "lost" : "serving";
}

function textOf(beat: Beat): string {
  return JSON.stringify(beat);
}

/** A value that `textOf` wrote. */
function beatOf(value: string): Beat {
  return JSON.parse(value) as Beat;
}
