import type { ClaimedTarget, WaitingNotice } from "../../core/alerts/queue.ts";
import { isoTime } from "../../core/kernel/clock.ts";
import { maySend } from "../../core/platform/lease.ts";
import type { Mailer } from "./mailer.ts";
import { signedHeaders } from "./signed-headers.ts";
import type { WebhookSender } from "./webhook-sender.ts";

/** What an attempt needs. */
export interface AlertSender {
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
export interface Arrived {
  arrived: string[];
  error: string | null;
}

/** A notice as a webhook and a mail have it. */
function noticeOf({ id, kind, subject, state, at, detail }: WaitingNotice) {
  return { id, kind: kind ?? "test", subject: subject ?? "esimctl", state, at: isoTime(at), detail };
}

/** One mail with all notices of a target. Its message ID is that of the first: a repetition is known by it. */
export async function mailNotices({ mailer }: AlertSender, { claimed, opened }: Attempt): Promise<Arrived> {
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
  return { arrived: [], error: "reason" in outcome ? outcome.reason : outcome.kind };
}

/** One signed POST for each notice, oldest first, up to the first that does not arrive. */
export async function postNotices({ sender, now }: AlertSender, attempt: Attempt): Promise<Arrived> {
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
