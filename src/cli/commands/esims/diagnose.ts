import { type Diagnosis, verdictWords } from "../../../core/after-sale/diagnose.ts";
import type { EsimRow } from "../../../core/esims/esim.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { listResult, type Result, recordResult } from "../../output/result.ts";
import { usingProviders } from "../../place/providers.ts";
import { esimAtHand } from "../../place/records-at-hand.ts";

/** An order's eSIMs that are looked at: the newest. */
const MOST = 50;

export default command({
  target: "operator",
  effects: "Reads only: what is stored, and what the supplier shows now.",
  json:
    "{iccid, verdict: never_downloaded | installed_not_enabled | used_up | expired | suspended | ok | unknown, " +
    "evidence: […], message}; for an order with several eSIMs {data: [{…}], count}",
  examples: ["esims diagnose 8944590004463637008", "esims diagnose ORD-20260301-7KQ2M --json"],
  args: { esim: argument("iccid", "the eSIM's ICCID or id, or an order: each of its eSIMs") },
  options: {},
  async run(context, { esim: given }) {
    const [{ namedEsims }, { diagnoseEsims }] = await Promise.all([
      import("../../../core/find/named-esims.ts"),
      import("../../../daemon/gateways/suppliers/diagnose.ts"),
    ]);
    return context.withStore(async ({ store, clock }) => {
      const named = await store.read(namedEsims, { given });
      const esims: readonly EsimRow[] = named.length === 0 ? [await esimAtHand(store, given)] : named;
      const found = await usingProviders({ store, clock }, (providers) => diagnoseEsims({ store, providers }, esims));
      const [one] = found;
      return found.length === 1 && one !== undefined ? toResult(one) : several(found);
    });
  },
});

function toResult(found: Diagnosis): Result {
  const { iccid, verdict, evidence, message } = found;
  return recordResult(found, () => ({ iccid, verdict: verdictWords[verdict], evidence: evidence.join("\n"), message }));
}

function several(found: Diagnosis[]): Result {
  const columns = [
    { title: "iccid", value: ({ iccid }: Diagnosis) => iccid },
    { title: "verdict", value: ({ verdict }: Diagnosis) => verdictWords[verdict] },
    { title: "evidence", value: ({ evidence }: Diagnosis) => evidence.join("; "), shrinks: true },
  ];
  const note = found.length >= MOST ? `The newest ${MOST} eSIMs: name others by their ICCID.` : undefined;
  return { ...listResult(found, columns, "No eSIMs."), note };
}
