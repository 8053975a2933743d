import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { paceOf, type Side } from "./bench.ts";
import type { Sink } from "./webhooks.ts";

/** graphile-worker on a PostgreSQL of its own: one job a delivery, queued untimed, posted by `post`. */
export async function graphileSide(url: string, sink: Sink, concurrency: number, post: () => Promise<void>) {
  const pgPool = new pg.Pool({ connectionString: url, max: 12 });
  // It requires listeners on the pool; a broken connection fails the bench by itself.
  pgPool.on("error", () => undefined);
  pgPool.on("connect", (client) => void client.on("error", () => undefined));
  const shared = { pgPool, logger: new Logger(() => () => undefined) };
  await runMigrations(shared);
  const side: Side = async (events) => {
    const utils = await makeWorkerUtils(shared);
    await utils.addJobs(Array.from({ length: events }, (_, event) => ({ identifier: "post", payload: { event } })));
    await utils.release();
    const arrived = sink.got(events);
    return paceOf(events, async () => {
      const runner = await run({ ...shared, concurrency, noHandleSignals: true, taskList: { post } });
      await arrived;
      await runner.stop();
    });
  };
  return { side, close: () => pgPool.end() };
}
