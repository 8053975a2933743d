import prometheus, { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { ProblemSlug } from "../../core/kernel/problem.ts";

/** One request with its response, as the counters take it. */
export interface HandledRequest {
  method: string;
  /** The route's pattern, never the address itself. */
  route: string;
  status: number;
  seconds: number;
  /** The slug of the problem that it was refused with. */
  refusal?: string | undefined;
  requestId?: string;
  /** Whose token it carried, also one that has expired; undefined: no known one's. */
  caller?: { clientId: string; partnerId?: PartnerId; environment?: Environment } | undefined;
}

/** Whether a request failed on our side. One that the operator's pause refuses is a 503 too, and no failure. */
export function hasFailed({ status, refusal }: Pick<HandledRequest, "status" | "refusal">): boolean {
  return status >= 500 && refusal !== PAUSED;
}

const PAUSED: ProblemSlug = "paused";

/** Counts requests. */
export interface RequestCounting {
  record(request: HandledRequest): void;
}

/** The daemon's Prometheus metrics. */
export interface Metrics extends RequestCounting {
  registry: Registry;
}

/** Requests of one method, route and status. */
interface Series {
  labels: Record<"method" | "route" | "status", string>;
  requests: number;
  observe(seconds: number): void;
}

function seriesOf(durations: Histogram<keyof Series["labels"]>, labels: Series["labels"]): Series {
  const { observe } = durations.labels(labels);
  return { labels, requests: 0, observe };
}

/** A registry of its own with the process's metrics and those of the HTTP side. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const labelNames = ["method", "route", "status"] as const;
  const series = new Map<string, Series>();
  void new Counter({
    name: "esimctl_http_requests_total",
    help: "Requests answered, by method, route pattern and status.",
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, requests } of series.values()) this.inc(labels, requests);
    },
  });
  const durations = new Histogram({
    name: "esimctl_http_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its response.",
    labelNames,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const limited = new Counter({
    name: "esimctl_http_rate_limited_total",
    help: "Requests refused with 429, by route pattern.",
    labelNames: ["route"],
    registers: [registry],
  });
  const paused = new Counter({
    name: "esimctl_http_paused_total",
    help: "Requests refused with 503 because the operator paused new orders, by route pattern.",
    labelNames: ["route"],
    registers: [registry],
  });
  return {
    registry,
    record({ method, route, status, seconds, refusal }) {
      const name = `${method} ${status} ${route}`;
      const known = series.get(name) ?? seriesOf(durations, { method, route, status: String(status) });
      if (known.requests === 0) series.set(name, known);
      known.requests += 1;
      known.observe(seconds);
      if (status === 429) limited.inc({ route });
      if (refusal === PAUSED) paused.inc({ route });
    },
  };
}

/** Metrics as Prometheus reads them. */
export interface Exposed {
  contentType: string;
  metrics(): Promise<string>;
}

/** An empty registry. */
export function createRegistry(): Registry {
  return new Registry();
}

/** In a front's process: lets the main process read the registry. */
export function lendMetrics(registry: Registry): void {
  // Made for its listener, which answers the main process.
  void new prometheus.AggregatorRegistry();
  prometheus.AggregatorRegistry.setRegistries([registry]);
}

/** In the main process: the metrics of all fronts, added up, and those of its own. */
export function borrowedMetrics(own: Registry): Exposed {
  const fronts = new prometheus.AggregatorRegistry();
  return {
    contentType: own.contentType,
    metrics: async () => `${await fronts.clusterMetrics()}\n${await own.metrics()}`,
  };
}
