import { endedReturn } from "../../../core/after-sale/give-back.ts";
import { openRefund, settleReturn } from "../../../core/after-sale/settle.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Read } from "../../../core/store/store.ts";
import { actPage } from "../../parts/act-page.tsx";
import { moneyWords, timeWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn } from "../../session/visit.ts";
import { esimOf } from "./esim-supplier.tsx";
import { repaidFields, repaidIn } from "./repaid-field.ts";

/** What the people at a supplier decide about a refund that was requested of them. */
const acts = [
  { verb: "refund-granted", title: "Refund granted", granted: true },
  { verb: "refund-denied", title: "Refund denied", granted: false },
] as const;

/** The open refund of an eSIM, or how its last one ended. Throws `not_found`. */
async function refundOf(q: Read, iccid: string) {
  const { esim } = await esimOf(q, iccid);
  return { open: await openRefund(q, iccid), ended: await endedReturn(q, { esim_id: esim.id, kind: "refund" }) };
}

async function seenIn(visit: ConsoleVisit) {
  const { open, ended } = await visit.store.read(refundOf, partIn(visit, "iccid"));
  if (open !== null) return open;
  if (ended === null) throw new Problem("conflict", "This eSIM has no open request of a refund.");
  const decided = ended.outcome === "done" ? "granted" : "denied";
  const at = timeWords(ended.since, visit.zone);
  throw new Problem("conflict", `The refund of this eSIM was ${decided} already, at ${at}: nothing is left to settle.`);
}

/** Where an eSIM's open refund is settled; none where it has none. */
export async function settleLinks(visit: ConsoleVisit, iccid: string): Promise<[to: string, words: string][]> {
  if (!visit.may("esims.write") || (await visit.store.read(openRefund, iccid)) === null) return [];
  return acts.map(({ verb, title }) => [`/esims/${iccid}/${verb}`, title]);
}

const settling = ({ verb, title, granted }: (typeof acts)[number]) =>
  actPage({
    ...{ verb, button: title, bad: granted, command: settleReturn, read: seenIn },
    fields: ({ unclear }) => (granted ? repaidFields(unclear) : []),
    at: ({ iccid }) => `/esims/${iccid}`,
    title: ({ iccid }) => `${title}: eSIM ${iccid}`,
    input: ({ form }, { id }) => ({ id, granted, repaid: repaidIn(form) }),
    foresee: ({ amount_cents, currency }, { partner, supplier }) =>
      granted ? (
        <p>
          {moneyWords(amount_cents, currency)} go back to {partner}, and the eSIM expires. Look first that the account
          at {supplier} has the credit.
        </p>
      ) : (
        <p>No money moves, and a refund may be asked for again.</p>
      ),
    done: ({ outcome }) => (outcome === "done" ? "It is refunded." : "The request is closed."),
  });

/** The acts on refunds that people at suppliers decide. */
export const esimSettlePages = acts.map((one) =>
  consolePage({ path: `/esims/:iccid/${one.verb}`, needs: "esims.write", stepUp: true, ...settling(one) }),
);
