import { statfs } from "node:fs/promises";
import { desc, gt } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { exposedPaths, isExposed } from "../platform/data-directory.ts";
import { findMasterKey, type KeySources, presentKeys } from "../store/sealing/key-files.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

/** Clocks of several hosts on one database never agree to the millisecond. */
const TOLERANCE_MS = 60_000;

// Ids begin with the moment they were made at, so what lies ahead of us is found by its id.
const newestEvent = statement((db, t, slot: Slots<{ after: string }>) =>
  db
    .select({ id: t.events.id, at: t.events.occurred_at })
    .from(t.events)
    .where(gt(t.events.id, slot.after))
    .orderBy(desc(t.events.id))
    .limit(1),
);

const newestEntry = statement((db, t, slot: Slots<{ after: number }>) =>
  db
    .select({ at: t.auditEntries.at })
    .from(t.auditEntries)
    .where(gt(t.auditEntries.at, slot.after))
    .orderBy(desc(t.auditEntries.at))
    .limit(1),
);

/** Whether this machine's clock agrees with what has been written: nothing can have happened later than now. */
export async function checkClock(q: Read): Promise<Finding> {
  const limit = q.now + TOLERANCE_MS;
  const event = first(await newestEvent(q, { after: firstUuidOf(limit) }));
  const entry = first(await newestEntry(q, { after: limit }));
  const newest = Math.max(event?.at ?? 0, entry?.at ?? 0);
  if (newest <= limit) return fine("clock", `The clock says ${isoTime(q.now)}, and nothing written is newer.`);
  const seconds = Math.round((newest - q.now) / 1000);
  const message = `The clock says ${isoTime(q.now)}; the newest record is of ${isoTime(newest)}, ${seconds} s later.`;
  return fault("clock", message, "Set this machine's clock, and keep it right with NTP.");
}

/**
 * Where the master key comes from, and whether only its owner may read the key file. Throws `StoreError` when it is
 * missing or invalid, or when two keys differ.
 */
export function checkMasterKey(sources: KeySources): Finding[] {
  findMasterKey(sources);
  const names = presentKeys(sources).map(({ name }) => name);
  const { file } = sources;
  const from = fine("key_source", `The master key comes from ${names.join(" and from ")}.`);
  if (file === null || !names.includes(file)) return [from];
  const beside = warning(
    "key_source",
    `The master key is kept outside, and the key file ${file} still lies with the data.`,
    "Move it away: a copy of the data with it opens everything.",
  );
  return [...(names.length > 1 ? [from, beside] : [from]), checkKeyFile(file)];
}

function checkKeyFile(file: string): Finding {
  if (isExposed(file)) {
    return fault("key_file", `Others than its owner may read the key file ${file}.`, `chmod 600 ${file}`);
  }
  return fine("key_file", "Only its owner may read the key file.");
}

/** Whether only its owner may enter the data directory and open its lock. */
export function checkDirectory(directory: string): Finding[] {
  const exposed = exposedPaths(directory);
  if (exposed.length === 0) return [fine("directory", "Only its owner may enter the data directory.")];
  return exposed.map(({ path, mode }) =>
    warning("directory", `Others than its owner have rights to ${path}.`, `chmod ${mode} ${path}`),
  );
}

const MIB = 1024 * 1024;
const LEAST = 256 * MIB;
const LOW = 2048 * MIB;
const LOW_SHARE = 0.05;

/** Whether the file system of `directory` has room left for the database to grow. */
export async function checkDiskSpace(directory: string): Promise<Finding> {
  const { bavail, bsize, blocks } = await statfs(directory);
  return spaceFinding(bavail * bsize, blocks * bsize);
}

/** The finding for so many free bytes of so many. */
export function spaceFinding(free: number, total: number): Finding {
  const words = `${Math.floor(free / MIB)} MiB of ${Math.floor(total / MIB)} MiB are free where the data is.`;
  if (free < LEAST) return fault("disk_space", words, "Free some now: orders are refused once writing fails.");
  const low = free < LOW || free < total * LOW_SHARE;
  return low
    ? warning("disk_space", words, "Free some, or move the data to a larger disk.")
    : fine("disk_space", words);
}
