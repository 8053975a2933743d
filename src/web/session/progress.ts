import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";

/** What the script of a page accepts where it shows how far an act is. */
const LINES = "application/x-ndjson";

/** What an act came to: another page, with words about what was done, or the page itself. */
type Outcome = { to: string; notice: string | null } | { html: string };

/** Proxies give up an answer that says nothing for a minute (ms). */
const BEAT_MS = 20_000;

/** How far an act is that takes long. Without a script nothing is said of it, and the page answers when it is done. */
export interface Progress {
  /** Says it, and lets others have a turn of the event loop. */
  say(done: number, total: number): Promise<void>;
  /** The same of work that does not know how far it is: while it lasts, proxies hear of it often enough to wait. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Answers with the outcome behind the last word; false: there was none, so that it is answered as ever. */
  end(outcome: () => Outcome): boolean;
}

/**
 * The progress of what a form asks for: lines of `{done, total}`, or of `{waits}` as long as that is not known, and the
 * outcome, begun with the first one.
 */
export function progressOf(request: FastifyRequest, reply: FastifyReply): Progress {
  const hasScript = request.method === "POST" && request.headers.accept === LINES;
  let lines: PassThrough | null = null;
  let percent = -1;
  const write = (line: object) => {
    // nginx would keep what is small until there is more.
    lines ??= begun(reply.header("x-accel-buffering", "no"));
    lines.write(`${JSON.stringify(line)}\n`);
  };
  return {
    async say(done, total) {
      const now = Math.floor((100 * done) / Math.max(1, total));
      if (hasScript && now !== percent) {
        write({ done, total });
        percent = now;
      }
      await nextTurn();
    },
    async during(work) {
      if (!hasScript) return work;
      write({ waits: true });
      const beat = setInterval(write, BEAT_MS, { waits: true });
      return work.finally(() => clearInterval(beat));
    },
    end(outcome) {
      lines?.end(`${JSON.stringify(outcome())}\n`);
      return lines !== null;
    },
  };
}

function begun(reply: FastifyReply): PassThrough {
  const lines = new PassThrough();
  reply.type(LINES).send(lines);
  return lines;
}
