import type { Logger } from "pino";
import { addRefusedRequests, MOST_REFUSED, type RefusedRequest } from "../../core/insight/refusals.ts";
import type { DaemonContext } from "../context/context.ts";
import type { HandledRequest } from "./metrics.ts";

/** Notes refused requests of partners, for their page of them. */
export interface RefusedRequests {
  /** Notes one request if it was refused and names its partner; nothing is written before the next flush. */
  record(request: HandledRequest): void;
  /** Writes what was noted since the last time. */
  flush(): Promise<void>;
  /** Writes the rest, and flushes no more. */
  stop(): Promise<void>;
}

const FLUSH_MS = 5_000;

type Deps = Pick<DaemonContext, "store" | "clock" | "ids"> & { log: Pick<Logger, "warn"> };

/** Notes them in memory, the newest of each owner, written every five seconds in which there was one. */
export function keepRefused({ store, clock, ids, log }: Deps): RefusedRequests {
  let noted = new Map<string, RefusedRequest[]>();
  let warned = false;

  function note(request: RefusedRequest): void {
    const owner = `${request.partner_id} ${request.environment}`;
    const known = noted.get(owner) ?? [];
    known.push(request);
    // A client in a loop costs no more memory than the database keeps of it.
    if (known.length > MOST_REFUSED) known.shift();
    noted.set(owner, known);
  }

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const taken = [...noted.values()].flat();
    noted = new Map();
    try {
      await store.write(addRefusedRequests, taken);
      warned = false;
    } catch (error) {
      // They are a help to partners, and no record: what cannot be written is let go.
      if (!warned) log.warn({ err: error }, "refused requests could not be written");
      warned = true;
    }
  }

  const timer = setInterval(flush, FLUSH_MS).unref();
  return {
    record({ method, route, status, refusal, requestId, caller }) {
      if (refusal === undefined || requestId === undefined) return;
      if (caller?.partnerId === undefined || caller.environment === undefined) return;
      const { partnerId: partner_id, environment, clientId: client_id } = caller;
      const at = clock.now();
      const about = { partner_id, environment, client_id, method, route, status };
      note({ id: ids.uuid(at), ...about, problem: refusal, request_id: requestId, at });
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
