import { verdictWords } from "../../../core/after-sale/diagnose.ts";
import { endedReturn, requireSold } from "../../../core/after-sale/give-back.ts";
import { unclearRefund } from "../../../core/after-sale/given-back.ts";
import { deliveredEsims } from "../../../core/esims/delivered.ts";
import { esimsOfIccid } from "../../../core/esims/esim.ts";
import type { EsimId } from "../../../core/kernel/brand.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import type { ReturnKind } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { diagnoseEsims } from "../../../daemon/gateways/suppliers/diagnose.ts";
import { giveBack } from "../../../daemon/gateways/suppliers/give-back.ts";
import { usingProviders } from "../../../daemon/gateways/suppliers/providers.ts";
import { formShown } from "../../parts/act-form.tsx";
import { backLink, pageShown, record } from "../../parts/shown.tsx";
import { moneyWords, timeWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn, type Shown } from "../../session/visit.ts";
import { repaidFields, repaidIn } from "./repaid-field.ts";

/** What a supplier can be asked for after the sale. */
const acts = [
  {
    kind: "refund",
    title: "Refund at the supplier",
    intro:
      "The supplier is asked to take it back. Once that is done its price goes back to the partner, and it expires.",
  },
  {
    kind: "replace",
    title: "Replace at the supplier",
    intro: "The supplier is asked for another one in its place, which takes its place in the order. No money moves.",
  },
] as const;

const pathOf = (iccid: string) => `/esims/${iccid}`;

/** The eSIM that an ICCID means: a real one goes before one of the sandbox. Throws `not_found`. */
export async function esimOf(q: Read, iccid: string) {
  const delivered = await deliveredEsims(q, iccid);
  const found = delivered.find(({ esim }) => esim.environment === "production") ?? delivered[0] ?? null;
  const esim = found?.esim ?? (await esimsOfIccid(q, iccid))[0];
  if (esim === undefined) throw notFound("esim");
  return { found, esim };
}

async function soldOf(q: Read, { iccid, kind }: { iccid: string; kind: ReturnKind }) {
  const sold = await requireSold(q, (await esimOf(q, iccid)).esim.id);
  const done = await doneOf(q, { esim_id: sold.id, kind });
  return { ...sold, done, unclear: kind === "refund" && done === null ? await unclearRefund(q, sold) : null };
}

/** What was done to an eSIM after its sale, so that this cannot be asked for any more; null: nothing. */
async function doneOf(q: Read, { esim_id, kind }: { esim_id: EsimId; kind: ReturnKind }) {
  // A refund ends an eSIM: nothing takes its place.
  for (const one of new Set<ReturnKind>(["refund", kind])) {
    const ended = await endedReturn(q, { esim_id, kind: one });
    if (ended?.outcome === "done") return { ...ended, words: one === "refund" ? "refunded" : "replaced" };
  }
  return null;
}

/** What may still be asked of the supplier of an eSIM. */
async function openKinds(q: Read, iccid: string): Promise<ReturnKind[]> {
  const { id } = (await esimOf(q, iccid)).esim;
  const open: ReturnKind[] = [];
  for (const { kind } of acts) if ((await doneOf(q, { esim_id: id, kind })) === null) open.push(kind);
  return open;
}

/** Where the supplier of a sold eSIM is asked about it, and for what the visitor may. */
export async function supplierLinks(
  visit: ConsoleVisit,
  { iccid, environment, order }: { iccid: string; environment: string | null; order: object | null },
): Promise<[to: string, words: string][]> {
  if (environment !== "production" || order === null) return [];
  const open = visit.may("esims.write") ? await visit.store.read(openKinds, iccid) : [];
  const mayAct = acts.filter(({ kind }) => open.includes(kind));
  return [
    [`${pathOf(iccid)}/diagnosis`, "Diagnose"],
    ...mayAct.map(({ kind, title }): [string, string] => [`${pathOf(iccid)}/${kind}`, title]),
  ];
}

async function diagnosisPage(visit: ConsoleVisit): Promise<Shown> {
  const { store, context } = visit;
  const { esim } = await store.read(esimOf, partIn(visit, "iccid"));
  const [found] = await usingProviders({ store, now: context.clock.now }, (providers) =>
    diagnoseEsims({ store, providers }, [esim]),
  );
  if (found === undefined) throw notFound("esim");
  const { iccid, verdict, evidence, message } = found;
  return pageShown(visit, `Diagnosis of eSIM ${iccid}`, [
    record(visit, [["It is", verdictWords[verdict]]]),
    <section>
      <h2>What shows it</h2>
      <ul>
        {evidence.map((one) => (
          <li>{one}</li>
        ))}
      </ul>
      <h2>To the traveler</h2>
      <p data-copy>{message}</p>
    </section>,
    backLink(visit, pathOf(iccid), `eSIM ${iccid}`),
  ]);
}

type Act = (typeof acts)[number];

async function askPage(visit: ConsoleVisit, { kind, title, intro }: Act): Promise<Shown> {
  const { iccid, unclear, done } = await visit.store.read(soldOf, { iccid: partIn(visit, "iccid"), kind });
  if (done !== null) {
    return pageShown(visit, `${title}: eSIM ${iccid}`, [
      <p class="alert">
        It was {done.words} already, at {timeWords(done.since, visit.zone)}.
      </p>,
      backLink(visit, pathOf(iccid), `eSIM ${iccid}`),
    ]);
  }
  const form = { to: `${pathOf(iccid)}/${kind}`, intro, fields: repaidFields(unclear), back: pathOf(iccid) };
  return pageShown(visit, `${title}: eSIM ${iccid}`, formShown(visit, { ...form, submit: title, bad: true }));
}

async function ask(visit: ConsoleVisit, { kind, title }: Act): Promise<Shown> {
  const { store, context, actor, form, request } = visit;
  const { id, iccid } = await store.read(soldOf, { iccid: partIn(visit, "iccid"), kind });
  const asked = { id, kind, repaid: repaidIn(form), actor, requestId: request.id };
  const { answer, since } = await usingProviders({ store, now: context.clock.now }, (providers) =>
    giveBack({ store, providers }, asked),
  );
  const { outcome, amount_cents, currency, detail } = answer;
  if (outcome === "done" && since === null) {
    const words =
      kind === "refund" ? `It is refunded: ${moneyWords(amount_cents, currency)} went back.` : "It is replaced.";
    return { to: pathOf(answer.iccid), notice: words };
  }
  const words = {
    done: "It was done before.",
    requested: "It is requested: people decide.",
    not_available: "It is not available.",
  };
  return pageShown(visit, `${title}: eSIM ${iccid}`, [
    <section>
      <p class={outcome === "not_available" ? "alert bad" : "alert"}>{words[outcome]}</p>
      <p>{detail}</p>
    </section>,
    backLink(visit, pathOf(answer.iccid), `eSIM ${answer.iccid}`),
  ]);
}

/** What the supplier of an eSIM is asked after the sale. */
export const esimSupplierPages = [
  consolePage({ path: "/esims/:iccid/diagnosis", needs: "esims.read", show: diagnosisPage }),
  ...acts.map((one) =>
    consolePage({
      ...{ path: `/esims/:iccid/${one.kind}`, needs: "esims.write", stepUp: true },
      show: (visit) => askPage(visit, one),
      act: (visit) => ask(visit, one),
    }),
  ),
];
