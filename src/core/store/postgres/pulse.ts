import type pg from "pg";
import type { Pulse } from "../store.ts";
import { WRITE_LOCK } from "./session.ts";

const PULSE = `
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, (
    SELECT max(extract(epoch FROM clock_timestamp() - a.state_change) * 1000)::float8
      FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = ${WRITE_LOCK}
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND a.pid <> pg_backend_pid() AND a.state LIKE 'idle in transaction%') AS held_ms`;

/**
 * The time of the server, and for how long another session has kept the lock of all writes while it does nothing, as
 * one of a suspended node. Sessions of other roles are seen only with `pg_read_all_stats`.
 */
export async function pulseOf(client: Pick<pg.ClientBase, "query">): Promise<Pulse> {
  const { rows } = await client.query(PULSE);
  const [{ now, held_ms } = { now: null, held_ms: null }] = rows;
  return { now: now === null ? null : Number(now), heldMs: held_ms === null ? null : Number(held_ms) };
}
