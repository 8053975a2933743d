import type { Pool } from "../../src/daemon/workers/pool.ts";

/** Does everything that is due now, to the last answer; answers how many pieces of work that were. */
export async function settled(pool: Pool): Promise<number> {
  const { signal } = new AbortController();
  for (let total = 0; ; ) {
    const begun = await pool.step(signal);
    await pool.idle();
    if (begun === 0) return total;
    total += begun;
  }
}
