import type pg from "pg";
import type { Nodes, WindowDraw, WindowShare } from "../store.ts";
import type { Pool } from "./pool.ts";

/** Minutes that windows are kept: the clocks of nodes differ by seconds. */
const KEPT_MINUTES = 2;

// What is old by the server's clock too: by a clock that is minutes ahead the windows of all other nodes are old.
const DROP_OLD = `
  DELETE FROM rate_windows
   WHERE minute < least($1::bigint, floor(extract(epoch FROM now()) / 60)::bigint) - ${KEPT_MINUTES}`;

/**
 * SQL of a window after the draw `a`, when it was at `used` and `held` before. Requests that wait are counted at once,
 * up to the limit (`most`). What is given ahead of requests is half of what may still be held, and within the limit.
 */
const drawn = (used: string, held: string) => `
  SELECT was.used + now.allowed AS used, was.held + next.ahead AS held, now.allowed, next.ahead
    FROM (SELECT ${used} + a.spent AS used, greatest(${held} - a.spent, 0) AS held) was,
         LATERAL (SELECT greatest(least(a.wanted, a.most - was.used), 0) AS allowed) now,
         LATERAL (SELECT a.most / 20 - was.held AS room, a.most - was.used - now.allowed - was.held AS rest) free,
         LATERAL (SELECT greatest(least(greatest(free.room / 2, least(free.room, 1)), free.rest), 0) AS ahead) next`;

// Counts need not survive a crash of the server: no draw waits for its disk. In order, so that no two draws wait for
// each other.
const DRAW = `
  WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
  asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
               AS a(minute, id, most, spent, wanted))
  INSERT INTO rate_windows AS w (minute, id, used, held, allowed, ahead)
  SELECT a.minute, a.id, d.used, d.held, d.allowed, d.ahead
    FROM relaxed, asked a, LATERAL (${drawn("0", "0")}) d ORDER BY a.minute, a.id
  ON CONFLICT (minute, id) DO UPDATE SET (used, held, allowed, ahead) = (
    SELECT d.used, d.held, d.allowed, d.ahead FROM asked a, LATERAL (${drawn("w.used", "w.held")}) d
     WHERE a.minute = excluded.minute AND a.id = excluded.id)
  RETURNING minute, id, used, allowed, ahead`;

/** What `Nodes.draw` promises. No two draws of one call are of the same window. */
export function windowDraws(pool: Pick<Pool, "ask">): Nodes["draw"] {
  let latest = 0;
  return (draws) =>
    pool.ask(async (client) => {
      const minute = Math.max(...draws.map((draw) => draw.minute));
      // Also a lower one, of a clock that was set back.
      if (minute !== latest) {
        latest = minute;
        await client.query(DROP_OLD, [minute]);
      }
      return drawFrom(client, draws);
    });
}

async function drawFrom(client: Pick<pg.ClientBase, "query">, draws: readonly WindowDraw[]): Promise<WindowShare[]> {
  const column = <K extends keyof WindowDraw>(name: K) => draws.map((draw) => draw[name]);
  const values = [column("minute"), column("id"), column("limit"), column("spent"), column("wanted")];
  const { rows } = await client.query({ name: "draw_windows", text: DRAW, values });
  const shares = new Map(rows.map((row) => [`${row.minute} ${row.id}`, row]));
  return draws.map(({ minute, id }) => {
    const { used, allowed, ahead } = shares.get(`${minute} ${id}`);
    return { used: Number(used), allowed: Number(allowed), ahead: Number(ahead) };
  });
}
