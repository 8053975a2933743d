import { openRefund, settleReturn } from "../../../core/after-sale/settle.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import { actPage } from "../../parts/act-page.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn } from "../../session/visit.ts";
import { repaidFields, repaidIn } from "./repaid-field.ts";

/** What the people at a supplier decide about a refund that was requested of them. */
const acts = [
  { verb: "refund-granted", title: "Refund granted", granted: true },
  { verb: "refund-denied", title: "Refund denied", granted: false },
] as const;

async function seenIn(visit: ConsoleVisit) {
  const found = await visit.store.read(openRefund, partIn(visit, "iccid"));
  if (found === null) throw notFound("esim");
  return found;
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
