import { Counter, Gauge, type Registry } from "prom-client";
import type { ReplicaLook, ReplicaReads } from "../../core/store/store.ts";

/** Counts the reads of this process that might go to the replica, by the server that answered. */
export function registerReplicaReads(registry: Registry, replica: ReplicaReads | null): void {
  if (replica === null) return;
  let before = { replica: 0, primary: 0 };
  new Counter({
    name: "esimctl_replica_reads_total",
    help: "Lists, exports and reports, by the server that answered: the replica, or the primary in its place.",
    labelNames: ["server"],
    registers: [registry],
    collect() {
      const now = replica.counted();
      for (const server of ["replica", "primary"] as const) this.inc({ server }, now[server] - before[server]);
      before = now;
    },
  });
}

/** Shows how long what is committed takes to be on the replica; nothing while that is unknown. */
export function registerReplicaLag(registry: Registry, replica: { seen(): ReplicaLook | null } | null): void {
  if (replica === null) return;
  new Gauge({
    name: "esimctl_replica_lag_seconds",
    help: "How long what is committed takes to be on the replica; absent while that is unknown.",
    registers: [registry],
    collect() {
      this.reset();
      const lagMs = replica.seen()?.lagMs ?? null;
      if (lagMs === null) this.remove();
      else this.set(lagMs / 1_000);
    },
  });
}
