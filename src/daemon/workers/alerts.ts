import type { Logger } from "pino";
import type { Condition, NodeView } from "../../core/alerts/conditions.ts";
import { type ClaimedTarget, claimTargets, hasDueTargets, recordSent } from "../../core/alerts/queue.ts";
import { hasAlertChanges, settleAlerts } from "../../core/alerts/settle.ts";
import { openTarget } from "../../core/alerts/targets.ts";
import { followStock, isBehindStock } from "../../core/catalog/follow-stock.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import { checkDiskSpace } from "../../core/maintenance/machine-checks.ts";
import type { Store } from "../../core/store/store.ts";
import { type AlertSender, type Arrived, mailNotices, postNotices } from "../gateways/alert-sender.ts";
import { describeError } from "../log/logger.ts";

/** What the node sees of itself. */
export interface Host {
  name: string;
  /** The directory whose room is watched; left out: none, as with PostgreSQL elsewhere. */
  directory?: string | undefined;
  isClockOff(): boolean;
}

interface AlertDependencies extends AlertSender {
  store: Store;
  clock: Clock;
  log: Pick<Logger, "error">;
  host: Host;
}

/** How long a node serves before it says that jobs of the calendar were missed (ms). */
const SETTLED_MS = 10 * 60_000;

/** A step that compares what is wrong with what was raised, and sends what waits. */
export function createAlerts(deps: AlertDependencies): (signal: AbortSignal) => Promise<void> {
  const { store, clock } = deps;
  const since = clock.now();
  return async (signal) => {
    if (await store.read(isBehindStock, null)) await store.write(followStock, null);
    const view = await viewOf(deps.host, clock.now() - since >= SETTLED_MS);
    if (await store.read(hasAlertChanges, view)) await store.write(settleAlerts, view);
    if (!(await store.read(hasDueTargets, null))) return;
    const claimed = await store.write(claimTargets, null);
    await Promise.all(claimed.map((one) => sendTo(deps, one, signal)));
  };
}

async function viewOf({ name, directory, isClockOff }: Host, knowsCron: boolean): Promise<NodeView> {
  const own: Condition[] = [];
  if (directory !== undefined) {
    const space = await checkDiskSpace(directory);
    if (space.level !== "ok") own.push({ kind: "disk.low", subject: name, detail: space.message });
  }
  if (isClockOff()) {
    const detail = "The clock differs from the database's by more than 2 s, or could not be compared.";
    own.push({ kind: "clock.off", subject: name, detail });
  }
  return { host: name, own, knowsCron };
}

async function sendTo(deps: AlertDependencies, claimed: ClaimedTarget, stopping: AbortSignal): Promise<void> {
  const { store, log } = deps;
  const { row, lease } = claimed;
  let sent: Arrived;
  try {
    const attempt = { claimed, opened: openTarget(store, row), stopping };
    sent = await (row.channel === "email" ? mailNotices(deps, attempt) : postNotices(deps, attempt));
  } catch (error) {
    log.error({ err: error, target_id: row.id }, "alerts could not be sent");
    sent = { arrived: [], error: describeError(error).message };
  }
  await store.write(recordSent, { lease, ...sent });
}
