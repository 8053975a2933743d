import type { Logger } from "pino";
import type { Condition, NodeView } from "../../core/alerts/conditions.ts";
import {
  type ClaimedTarget,
  claimTargets,
  hasDueTargets,
  recordSent,
  type WaitingNotice,
} from "../../core/alerts/queue.ts";
import { hasAlertChanges, settleAlerts } from "../../core/alerts/settle.ts";
import { openTarget } from "../../core/alerts/targets.ts";
import { followStock, isBehindStock } from "../../core/catalog/follow-stock.ts";
import { type Clock, isoTime } from "../../core/kernel/clock.ts";
import { checkDiskSpace } from "../../core/maintenance/machine-checks.ts";
import { maySend } from "../../core/platform/lease.ts";
import type { Store } from "../../core/store/store.ts";
import type { Mailer } from "../gateways/mailer.ts";
import { signedHeaders } from "../gateways/signed-headers.ts";
import type { WebhookSender } from "../gateways/webhook-sender.ts";
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

/** What an attempt needs. */
interface AlertSender {
  mailer: Mailer;
  sender: WebhookSender;
  now(): number;
}

/** Where the notices go, opened. */
interface Opened {
  address: string;
  secret: string | null;
}

interface Attempt {
  claimed: ClaimedTarget;
  opened: Opened;
  stopping: AbortSignal;
}

/** What arrived, and why the rest did not. */
interface Arrived {
  arrived: string[];
  error: string | null;
}

/** A notice as a webhook and a mail have it. */
function noticeOf({ id, kind, subject, state, at, detail }: WaitingNotice) {
  return { id, kind: kind ?? "test", subject: subject ?? "esimctl", state, at: isoTime(at), detail };
}

/** One mail with all notices of a target. Its message ID is that of the first: a repetition is known by it. */
async function mailNotices({ mailer }: AlertSender, { claimed, opened }: Attempt): Promise<Arrived> {
  const notices = claimed.notices.map(noticeOf);
  const [first] = notices;
  if (first === undefined) return { arrived: [], error: null };
  const lines = notices.map(({ kind, subject, state, at, detail }) => `${state}: ${kind} ${subject}\n${detail}\n${at}`);
  const others = notices.length === 1 ? "" : ` and ${notices.length - 1} more`;
  const outcome = await mailer.send({
    to: opened.address,
    subject: `esimctl ${first.state}: ${first.kind} ${first.subject}${others}`,
    text: `${lines.join("\n\n")}\n\nesimctl alerts list shows what is raised, and where alerts go.\n`,
    reference: first.id,
  });
  if (outcome.kind === "accepted") return { arrived: notices.map(({ id }) => id), error: null };
  return { arrived: [], error: outcome.reason };
}

/** One signed POST for each notice, oldest first, up to the first that does not arrive. */
async function postNotices({ sender, now }: AlertSender, attempt: Attempt): Promise<Arrived> {
  const { claimed, opened, stopping } = attempt;
  const arrived: string[] = [];
  for (const waiting of claimed.notices) {
    const notice = noticeOf(waiting);
    const compose = () => {
      const at = now();
      if (!maySend(claimed.lease, at)) return null;
      const body = Buffer.from(JSON.stringify(notice));
      const secrets = { current: opened.secret ?? "", next: null };
      return { body, headers: signedHeaders({ id: notice.id, kind: notice.kind }, { body, at }, secrets) };
    };
    const answer = await sender.post({ url: opened.address, stopping, compose });
    // Too late for this lease: the next one goes on.
    if (answer === null) return { arrived, error: null };
    const { statusCode, error } = answer;
    if (statusCode === null) return { arrived, error: error ?? "no answer" };
    if (statusCode < 200 || statusCode > 299) return { arrived, error: `status ${statusCode}` };
    arrived.push(notice.id);
  }
  return { arrived, error: null };
}
