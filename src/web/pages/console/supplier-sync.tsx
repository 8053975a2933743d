import { requireSupplier } from "../../../core/suppliers/supplier.ts";
import { parseMarkup } from "../../../core/supply/pricing.ts";
import { type SupplierDetail, supplierDetail } from "../../../core/supply/supplier-detail.ts";
import type { SyncReport } from "../../../core/supply/sync-report.ts";
import { shownChanges, skippedWords, syncSummary } from "../../../core/supply/sync-words.ts";
import { runSync } from "../../../daemon/gateways/suppliers/run-sync.ts";
import { type FieldOf, formShown, namesOf } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { pageShown, table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, optionalField, partIn, type Shown } from "../../session/visit.ts";
import { withProvider } from "./provider.ts";

/** Rows of a preview at most: the whole of it is for the terminal. */
const MOST_CHANGES = 200;
const MOST_SKIPPED = 50;

const nameOf = (visit: ConsoleVisit) => partIn(visit, "name");
const pathOf = (name: string) => `/suppliers/${encodeURIComponent(name)}`;

const fieldsOf = ({ markup, sku_prefix }: Pick<SupplierDetail, "markup" | "sku_prefix">): FieldOf[] => [
  {
    ...{ name: "markup", label: "Markup in percent", inputmode: "decimal", value: markup?.toString() ?? "" },
    hint: "On the cost; another one is another price of all its products.",
  },
  { name: "prefix", label: "SKUs of new products begin with", value: sku_prefix ?? "" },
  { name: "only", label: "Only", hint: "Countries and regions with commas between: JP, EU. Others stay as they are." },
  { name: "currency", label: "Currency of new products", hint: "Empty: that of the products before, else the plan's." },
];

async function syncPage(visit: ConsoleVisit): Promise<Shown> {
  const supplier = await visit.store.read(supplierDetail, nameOf(visit));
  const [to, back] = [`${pathOf(supplier.name)}/sync`, pathOf(supplier.name)];
  const form = { to, back, fields: fieldsOf(supplier), submit: "Show what it changes", slow: true };
  return pageShown(visit, `Sync of ${supplier.name}`, <section>{formShown(visit, form)}</section>);
}

function askedIn({ form }: ConsoleVisit, supplier: string) {
  const markup = optionalField(form, "markup");
  const only = optionalField(form, "only")?.split(",") ?? [];
  return {
    supplier,
    markupPoints: markup === undefined ? undefined : parseMarkup(markup),
    prefix: optionalField(form, "prefix"),
    only: only.map((word) => word.trim()).filter((word) => word !== ""),
    currency: optionalField(form, "currency")?.toUpperCase(),
  };
}

/** Shows what a sync would change, or makes it where that was seen. */
async function sync(visit: ConsoleVisit): Promise<Shown> {
  const { store, actor, request, progress } = visit;
  const { name } = await store.read(requireSupplier, nameOf(visit));
  const [asked, dryRun] = [askedIn(visit, name), !isConfirmed(visit)];
  const written = (done: number, total: number) => void progress.say(done, total);
  const run = { store, asked, dryRun, actor, requestId: request.id, progress: written };
  // Some catalogs take a minute and more to be read, one page or one long answer after the other.
  const { report } = await progress.during(withProvider(visit, name, (provider) => runSync({ ...run, provider })));
  if (dryRun) return preview(visit, name, report);
  const left = report.skipped.length === 0 ? "" : `; ${report.skipped.length} left out`;
  return { to: pathOf(name), notice: `${syncSummary(report)}${left}.` };
}

function preview(visit: ConsoleVisit, name: string, report: SyncReport): Shown {
  const { changes, skipped, deactivated, held } = report;
  return consequenceShown(visit, {
    ...{ title: `Sync ${name}?`, to: `${pathOf(name)}/sync`, back: pathOf(name), act: "Sync", slow: true },
    carried: namesOf(fieldsOf({ markup: null, sku_prefix: null })),
    kind: deactivated + held > 0 ? "bad" : undefined,
    children: (
      <>
        <p>{syncSummary(report)}.</p>
        {table(visit, { caption: "What changes", rows: shownChanges(changes.slice(0, MOST_CHANGES), moneyWords) }, [
          { title: "SKU", cell: (one) => one.sku },
          { title: "Field", cell: (one) => one.field },
          { title: "Now", cell: (one) => one.before },
          { title: "Then", cell: (one) => one.now },
        ])}
        {changes.length > MOST_CHANGES && <p>And {changes.length - MOST_CHANGES} more changes.</p>}
        {skipped.length > 0 && (
          <>
            <h2>{skipped.length} left out</h2>
            <ul>
              {skipped.slice(0, MOST_SKIPPED).map((one) => (
                <li>{skippedWords(one)}</li>
              ))}
            </ul>
          </>
        )}
      </>
    ),
  });
}

/** A sync of a provider's catalog, with what it changes shown before. */
export const supplierSyncPages = [
  consolePage({ path: "/suppliers/:name/sync", needs: "suppliers.write", show: syncPage, act: sync }),
];
