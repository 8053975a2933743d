import { endedInSandbox, expireInSandbox } from "../esims/expire.ts";
import { announceInSandbox, noticesInSandbox } from "../esims/expiring-in-sandbox.ts";
import { moveSandboxNotices, sandboxNoticesThrough } from "../esims/notices-through.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { nowOf } from "../store/sandbox-clock.ts";
import { statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** What one transaction does at most, so that nothing else waits for long. */
const STEP = 500;

/** How far notices may be behind the clock before a step says that there were none (ms). */
const MINUTE_MS = 60_000;

/** Something that an advanced clock made due, and at what moment of that clock (ms). */
interface Due {
  at: number;
  run(tx: Tx): Promise<void>;
}

interface Asked {
  partnerId: PartnerId;
  until: number;
  limit: number;
}

/** The first `limit` things of one kind that are due by `until`, in the order of their moments. */
type Source = (q: Read, asked: Asked) => Promise<Due[]>;

const expiries: Source = async (q, { partnerId: partner_id, until, limit }) => {
  const ended = await endedInSandbox(q, { partner_id, until, limit });
  return ended.map((esim) => ({ at: esim.at, run: (tx) => expireInSandbox(tx, esim) }));
};

const notices: Source = async (q, { partnerId: partner_id, until, limit }) => {
  const due = await noticesInSandbox(q, { partner_id, until, limit });
  return due.map((notice) => ({ at: notice.at, run: (tx) => announceInSandbox(tx, notice) }));
};

/** All that comes due by a sandbox clock. Of two things at one moment the earlier source's is done first. */
const sources: readonly Source[] = [notices, expiries];

function nowIn(q: Read, partnerId: PartnerId): Promise<number> {
  return nowOf(q, { partnerId, environment: "sandbox" });
}

/** The first things that are due for a partner by its sandbox clock, in the order of their moments. */
async function dueFor(q: Read, partnerId: PartnerId, limit: number): Promise<Due[]> {
  const until = await nowIn(q, partnerId);
  const due: Due[] = [];
  for (const source of sources) due.push(...(await source(q, { partnerId, until, limit })));
  return due.sort((a, b) => a.at - b.at).slice(0, limit);
}

/** Whether anything is left that a partner's sandbox clock made due. */
export async function isSettling(q: Read, partnerId: PartnerId): Promise<boolean> {
  return (await dueFor(q, partnerId, 1)).length > 0;
}

const clocks = statement((db, t, _slot) =>
  db.select({ partnerId: t.sandboxClocks.partner_id }).from(t.sandboxClocks).orderBy(t.sandboxClocks.partner_id),
);

/** The partners whose advanced sandbox clocks made something due, and once a minute those where nothing is. */
export async function partnersToSettle(q: Read, _input: null): Promise<PartnerId[]> {
  const found: PartnerId[] = [];
  for (const { partnerId } of await clocks(q, {})) {
    if ((await areNoticesBehind(q, partnerId)) || (await isSettling(q, partnerId))) found.push(partnerId);
  }
  return found;
}

/** Whether it is time to write until when there are notices, so that changed thresholds hold for what is ahead. */
async function areNoticesBehind(q: Read, partnerId: PartnerId): Promise<boolean> {
  const through = await sandboxNoticesThrough(q, partnerId);
  return through !== null && (await nowIn(q, partnerId)) - through >= MINUTE_MS;
}

/**
 * Does what a partner's sandbox clock made due, in the order of the moments at which it came due, however far the clock
 * was advanced at once; at most 500 things. Answers how many. Safe to repeat.
 */
export async function settleStep(tx: Tx, partnerId: PartnerId): Promise<number> {
  const due = await dueFor(tx, partnerId, STEP);
  for (const { run } of due) await run(tx);
  if (due.length === 0) await moveSandboxNotices(tx, partnerId, await nowIn(tx, partnerId));
  return due.length;
}
