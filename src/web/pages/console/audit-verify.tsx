import { type ChainCheck, verifyChains } from "../../../core/evidence/verify.ts";
import { isoTime } from "../../../core/kernel/clock.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { faultWords, soundWords } from "../../../core/maintenance/evidence-check.ts";
import type { Store } from "../../../core/store/store.ts";
import { Time } from "../../parts/cell.tsx";
import { backLink, pageShown } from "../../parts/shown.tsx";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";

/** Stores whose chains are being read: once at a time is enough for all. */
const underway = new WeakSet<Store>();

/** Reads all chains on one snapshot, with turns for others between. Throws `conflict` while another reading lasts. */
async function verified({ store, progress, request, reply }: ConsoleVisit): Promise<ChainCheck> {
  if (underway.has(store)) throw new Problem("conflict", "The chains are being verified already: wait for that.");
  const { signal } = request.server.lifecycle.stopping;
  const between = async (done: number, total: number) => {
    if (signal.aborted || reply.raw.destroyed) throw new Problem("unavailable", "The verification was cut off.");
    await progress.say(done, total);
  };
  underway.add(store);
  try {
    return await store.readLong(verifyChains, { keyed: true, between });
  } finally {
    underway.delete(store);
  }
}

/** Whether the audit trail and the ledger are as they were written. */
export async function verifyPage(visit: ConsoleVisit): Promise<Shown> {
  const { clock } = visit.context;
  const from = clock.now();
  const found = await verified(visit);
  const seconds = ((clock.now() - from) / 1000).toFixed(1);
  const body = (
    <>
      <Verdict found={found} />
      <p>
        All {counted(found.rows, "row")} of the audit trail and the ledger were read, with every head and signature, as
        they were at <Time at={isoTime(from)} zone={visit.zone} />; it took {seconds} s.
      </p>
      <p class="hint">
        That the database itself refuses to change them is what <code>esimctl audit verify</code> compares beside it.
      </p>
      {backLink(visit, "/platform/audit", "Audit trail")}
    </>
  );
  return pageShown(visit, "Verification of the chains", body);
}

function Verdict({ found }: { found: ChainCheck }) {
  if (found.ok) return <p class="alert good">{soundWords(found)}</p>;
  const more = found.fault_count - found.faults.length;
  return (
    <div class="alert bad">
      <p>The audit trail or the ledger was changed. Keep the database as it is, and compare with a backup.</p>
      <ul>
        {found.faults.map((one) => (
          <li>{faultWords(one)}</li>
        ))}
      </ul>
      {more > 0 && <p>And {counted(more, "more fault")}.</p>}
    </div>
  );
}
