import type { Logger } from "pino";
import { addRequestCounts, KEPT_MINUTES, type RequestCount } from "../../core/insight/rates.ts";
import { addRefusedRequests, MOST_REFUSED, type RefusedRequest } from "../../core/insight/refusals.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Store } from "../../core/store/store.ts";
import type { DaemonContext } from "../context/context.ts";
import { type HandledRequest, hasFailed } from "./metrics.ts";

/** Counts requests by the minute, for `esimctl status`. */
export interface RequestCounts {
  /** Counts one request; nothing is written before the next flush. */
  record(request: Pick<HandledRequest, "route" | "status" | "refusal">): void;
  /** Writes what was counted since the last time. */
  flush(): Promise<void>;
  /** Writes the rest, and flushes no more. */
  stop(): Promise<void>;
}

const FLUSH_MS = 5_000;
const MINUTE_MS = 60_000;
/** Probes of watchdogs are not counted as requests of partners. */
const PROBES = new Set(["/healthz", "/readyz"]);

/** Counts in memory, written every five seconds in which there was a request. */
export function countRequests(deps: { store: Store; clock: Clock; log: Pick<Logger, "warn"> }): RequestCounts {
  const { store, clock, log } = deps;
  let counts = new Map<number, RequestCount>();
  let warned = false;

  function add(count: RequestCount): void {
    const { minute } = count;
    const known = counts.get(minute) ?? { minute, requests: 0, failed: 0 };
    known.requests += count.requests;
    known.failed += count.failed;
    counts.set(minute, known);
    // The store drops minutes this old too: memory stays small during an outage.
    for (const old of counts.keys()) if (old < minute - KEPT_MINUTES) counts.delete(old);
  }

  async function flush(): Promise<void> {
    if (counts.size === 0) return;
    const taken = [...counts.values()];
    counts = new Map();
    try {
      await store.write(addRequestCounts, taken);
      warned = false;
    } catch (error) {
      for (const count of taken) add(count);
      if (!warned) log.warn({ err: error }, "counts of requests could not be written");
      warned = true;
    }
  }

  const timer = setInterval(flush, FLUSH_MS).unref();
  return {
    record(request) {
      if (PROBES.has(request.route)) return;
      add({ minute: Math.floor(clock.now() / MINUTE_MS), requests: 1, failed: hasFailed(request) ? 1 : 0 });
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Notes refused requests of partners, for their page of them. */
export interface RefusedRequests {
  /** Notes one request if it was refused and names its partner; nothing is written before the next flush. */
  record(request: HandledRequest): void;
  /** Writes what was noted since the last time. */
  flush(): Promise<void>;
  /** Writes the rest, and flushes no more. */
  stop(): Promise<void>;
}

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
