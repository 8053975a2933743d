import type { Read, Tx } from "../store/store.ts";
import { storedValue, storeValue } from "../store/stored-value.ts";

/** How long a node that runs the jobs of the calendar keeps them without a sign of life (ms). */
export const CRON_LEASE_MS = 20_000;

const KEY = "cron_lease";

/** Which node of a database runs the jobs of the calendar, and until when (ms). */
interface CronLease {
  node: string;
  until: number;
}

async function leaseIn(q: Read): Promise<CronLease | null> {
  const value = await storedValue(q, KEY);
  // What `takeCron` wrote.
  return value === null ? null : (JSON.parse(value) as CronLease);
}

/** Whether a node may take or prolong the lease: it is free, ended, or its own. */
export async function mayTakeCron(q: Read, node: string): Promise<boolean> {
  const lease = await leaseIn(q);
  return lease === null || lease.node === node || lease.until <= q.now;
}

/** Takes the lease or prolongs it; answers until when (ms) the node holds it, null: another one does. */
export async function takeCron(tx: Tx, node: string): Promise<number | null> {
  if (!(await mayTakeCron(tx, node))) return null;
  const until = tx.now + CRON_LEASE_MS;
  await storeValue(tx, KEY, JSON.stringify({ node, until } satisfies CronLease));
  return until;
}

/** Whether the node holds the lease. */
export async function holdsCron(q: Read, node: string): Promise<boolean> {
  const lease = await leaseIn(q);
  return lease?.node === node && q.now < lease.until;
}

/** Gives the lease up, if the node holds it: another one takes it at its next look. */
export async function releaseCron(tx: Tx, node: string): Promise<void> {
  if ((await leaseIn(tx))?.node === node) await storeValue(tx, KEY, null);
}
