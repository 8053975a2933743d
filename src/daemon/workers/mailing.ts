import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import { maySend } from "../../core/platform/lease.ts";
import { anyNodeMails } from "../../core/platform/serving.ts";
import type { Store } from "../../core/store/store.ts";
import type { Mail, Mailer, MailFault } from "../gateways/mailer.ts";
import { drained, type Step } from "./loop.ts";

/** What the workers that mail people need. */
export interface MailingContext {
  store: Store;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  /** Null: this node has no mail server. */
  mailer: Mailer | null;
  publicUrl: string;
  /** Whether no other node can serve the database. */
  alone: boolean;
}

interface Claimed {
  id: string;
  until: number;
}

/** The mails of one kind: each waits as a row that a node claims for a while. */
export interface MailKind<L extends Claimed> {
  /** What is mailed, for the log: "an invitation", and the name of its ID there. */
  what: string;
  idName: string;
  /** Whether any has been due for so long. */
  hasDue(given: { forMs: number }): Promise<boolean>;
  /** Claims what is due, as many as `atOnce` says. */
  claim(): Promise<L[]>;
  atOnce: number;
  /** Gives those up that have been due for so long, where there is no mail server. */
  giveUp(given: { forMs: number }): Promise<void>;
  /** The mail; or why it is not sent at all; null: there is nothing to do any more. */
  compose(lease: L): Promise<Omit<Mail, "reference"> | MailFault | null>;
  /** Records what came of an attempt; null: it was sent. */
  record(lease: L, fault: MailFault | null): Promise<void>;
}

/** So long (ms) a mail that no node sends is left for one with a mail server to start, or to start again. */
const OTHERS_MS = 60_000;

/** A step that sends the mails of a kind that are due; where no node has a mail server, it gives them up. */
export function createMailing<L extends Claimed>({ mailer, ...deps }: MailingContext, kind: MailKind<L>): Step {
  if (mailer === null) {
    const given = { forMs: deps.alone ? 0 : OTHERS_MS };
    return async () => {
      if ((await kind.hasDue(given)) && !(await deps.store.read(anyNodeMails, null))) await kind.giveUp(given);
    };
  }
  return async (signal) => {
    if (!(await kind.hasDue({ forMs: 0 }))) return;
    await drained(signal, () => mailSome({ ...deps, mailer }, kind), kind.atOnce);
  };
}

type Sending = Pick<MailingContext, "clock" | "log"> & { mailer: Mailer };

async function mailSome<L extends Claimed>(deps: Sending, kind: MailKind<L>): Promise<number> {
  const claimed = await kind.claim();
  await Promise.all(claimed.map((lease) => mailOne(deps, kind, lease)));
  return claimed.length;
}

const NOT_MADE: MailFault = { kind: "temporary", reason: "it could not be made", final: false };

/** Never logs what is mailed, nor to whom: a link lets in who opens it first. */
async function mailOne<L extends Claimed>(deps: Sending, kind: MailKind<L>, lease: L): Promise<void> {
  const { clock, log, mailer } = deps;
  const named = { [kind.idName]: lease.id };
  let fault: MailFault | null;
  try {
    const mail = await kind.compose(lease);
    if (mail === null || !maySend(lease, clock.now())) return;
    const outcome = "kind" in mail ? mail : await mailer.send({ ...mail, reference: lease.id });
    fault = outcome.kind === "accepted" ? null : outcome;
  } catch (error) {
    log.error({ err: error, ...named }, `${kind.what} could not be mailed`);
    return kind.record(lease, NOT_MADE);
  }
  if (fault !== null) log.warn({ ...named, reason: fault.reason }, `${kind.what} was not mailed`);
  await kind.record(lease, fault);
}
