import { invalid } from "../../../core/kernel/problem.ts";
import { requirePartner } from "../../../core/partners/partner.ts";
import type { ThresholdChange } from "../../../core/partners/thresholds.ts";
import { updatePartner } from "../../../core/partners/update.ts";
import { thresholdsOf } from "../../../core/platform/partner-thresholds.ts";
import { esimThresholds } from "../../../core/store/schema/values.ts";
import { type FieldOf, formShown, saidBy } from "../../parts/act-form.tsx";
import { mergedVisit } from "../../parts/merging.ts";
import { pageShown, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, field, moneyField, requiredField, type Shown } from "../../session/visit.ts";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

async function thresholdsPage(visit: ConsoleVisit): Promise<Shown> {
  const partner = await visit.store.read(requirePartner, slugOf(visit));
  const thresholds = thresholdsOf(partner);
  const { low_wallet } = thresholds;
  const to = `/partners/${partner.slug}/thresholds`;
  const body = (
    <>
      <PartnerLinks visit={visit} slug={partner.slug} />
      <p>Each sends the partner an event once it is crossed from now on.</p>
      {table(visit, { title: "Low balances", rows: Object.entries(low_wallet), empty: "No balance counts as low." }, [
        { title: "Currency", cell: ([currency]) => currency },
        { title: "Low below", right: true, cell: ([currency, money]) => ({ money, currency }) },
      ])}
      {formShown(visit, {
        ...{ to: `${to}/wallet`, submit: "Set the balance" },
        fields: [
          { name: "low_wallet", label: "Low below", inputmode: "decimal", hint: "Empty: none in this currency." },
          { name: "currency", label: "Currency", value: Object.keys(low_wallet)[0] ?? "AUD", required: true },
        ],
      })}
      {formShown(visit, {
        ...{ title: "eSIMs", to, submit: "Save", fields: esimFields(thresholds), ofRecord: {} },
      })}
    </>
  );
  return pageShown(visit, `Thresholds of ${partner.name}`, body);
}

function esimFields({ low_data, expiry_days }: ReturnType<typeof thresholdsOf>): FieldOf[] {
  const hintOf = ({ default: usual }: { default: readonly number[] }) =>
    `Commas between; empty: no events. "default" goes back to ${usual.join(", ")}.`;
  return [
    {
      ...{ name: "low_data", label: "Used, in percent of the data", value: low_data.join(", ") },
      hint: hintOf(esimThresholds.low_data),
    },
    {
      ...{ name: "expiry_days", label: "Days before the end", value: expiry_days.join(", ") },
      hint: hintOf(esimThresholds.expiry_days),
    },
  ];
}

/** Numbers with commas between; null: as is usual. Throws `validation`. */
function numbersIn({ form }: ConsoleVisit, name: string): number[] | null {
  const typed = field(form, name);
  if (typed === "" || typed === "default") return typed === "" ? [] : null;
  const words = typed.split(",").map((word) => word.trim());
  if (words.every((word) => /^\d{1,9}$/.test(word))) return words.map(Number);
  throw invalid({ [name]: ["must be whole numbers with commas between, empty, or default"] });
}

async function set(visit: ConsoleVisit, thresholds: ThresholdChange): Promise<Shown> {
  const { store, actor, request } = visit;
  const { slug } = await store.write(updatePartner, { slug: slugOf(visit), thresholds, actor }, request.id);
  return { to: `/partners/${slug}/thresholds`, notice: `The thresholds of ${slug} are saved.` };
}

/** What was not changed is left out: a default that is shown stays one. */
async function setEsims(visit: ConsoleVisit): Promise<Shown> {
  const now = thresholdsOf(await visit.store.read(requirePartner, slugOf(visit)));
  const sent = mergedVisit(visit, saidBy(esimFields(now)));
  const asked = (["low_data", "expiry_days"] as const).map((name) => [name, numbersIn(sent, name)] as const);
  return set(visit, Object.fromEntries(asked.filter(([name, numbers]) => numbers?.join() !== now[name].join())));
}

function setWallet(visit: ConsoleVisit): Promise<Shown> {
  const currency = requiredField(visit.form, "currency").toUpperCase();
  const isNone = field(visit.form, "low_wallet") === "";
  const cents = isNone ? null : moneyField(visit.form, "low_wallet", currency);
  return set(visit, { lowWallet: { currency, cents } });
}

const [path, needs] = ["/partners/:slug/thresholds", "partners.write"] as const;

/** What a partner gets events of. */
export const partnerThresholdPages = [
  consolePage({ path, needs, show: thresholdsPage, act: setEsims }),
  consolePage({ path: `${path}/wallet`, needs, act: setWallet, again: thresholdsPage }),
];
