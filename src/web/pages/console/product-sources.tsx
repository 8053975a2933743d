import type { ComponentChildren } from "preact";
import { showProduct } from "../../../core/catalog/product.ts";
import { parseCost } from "../../../core/kernel/cost.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import type { Read } from "../../../core/store/store.ts";
import { isProvider, listSuppliers } from "../../../core/suppliers/supplier.ts";
import { circuitOf } from "../../../core/supply/circuit.ts";
import {
  ABOUT_ADDING,
  ABOUT_REMOVING,
  costWords,
  removalQuestion,
  SOURCE_POLICY,
} from "../../../core/supply/source-words.ts";
import { addSource, listSources, removeSource, type Source } from "../../../core/supply/sources.ts";
import { type FieldOf, formShown, namesOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { backLink, pageShown, record, table } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import {
  type ConsoleVisit,
  idIn,
  integerField,
  numberOrNull,
  optionalField,
  partIn,
  requiredField,
  type Shown,
} from "../../session/visit.ts";

/** The sources of a product, and what may be one: the providers. */
async function seen(q: Read, id: string) {
  const { sku, delivery_method } = await showProduct(q, id);
  const sources = await listSources(q, { sku });
  const circuits = new Map<string, string>();
  for (const { supplier } of sources) {
    const { circuit, reason } = await circuitOf(q, supplier);
    circuits.set(supplier, reason === null ? plain(circuit) : `${plain(circuit)}: ${reason}`);
  }
  const providers = (await listSuppliers(q, null)).filter(({ adapter }) => isProvider(adapter));
  return { id, sku, delivery_method, sources, circuits, providers: providers.map(({ name }) => name) };
}

const seenIn = (visit: ConsoleVisit) => visit.store.read(seen, idIn(visit));

/** Where a source is changed, under the console's base. */
const pathOf = (id: string, supplier: string) => `/catalog/${id}/sources/${encodeURIComponent(supplier)}`;

/** Where a product of providers is bought, and the form that adds a source; nothing for another product. */
export async function sourcesShown(visit: ConsoleVisit): Promise<ComponentChildren> {
  const { id, delivery_method, sources, circuits, providers } = await seenIn(visit);
  if (delivery_method !== "supplier_api") return null;
  const may = visit.may("suppliers.write");
  const empty = "It has no sources: its supplier is asked as the product says.";
  return (
    <section>
      <h2>Sources</h2>
      <p>{SOURCE_POLICY}</p>
      {table(visit, { caption: "Sources", rows: sources, empty }, [
        { title: "Priority", right: true, cell: (one) => one.priority },
        {
          title: "Supplier",
          cell: ({ supplier: text }) => (may ? { text, to: pathOf(id, text) } : text),
        },
        { title: "Plan", cell: (one) => one.supplier_sku },
        { title: "Days", right: true, cell: (one) => one.days },
        { title: "Cost", right: true, cell: (one) => costWords(one) },
        { title: "State", cell: ({ status }) => ({ status }) },
        { title: "Circuit", cell: ({ supplier }) => circuits.get(supplier) ?? null },
      ])}
      {may && providers.length === 0 && <p>A supplier that speaks a provider's API can be one: connect it first.</p>}
      {may && providers.length > 0 && addForm(visit, id, providers)}
    </section>
  );
}

const supplierField = (options: readonly string[]): FieldOf => ({
  ...{ name: "supplier", label: "Supplier", hint: "Again with the same one: changes that source." },
  options: options.map((name) => [name, name] as const),
});

function addForm(visit: ConsoleVisit, id: string, providers: readonly string[]): ComponentChildren {
  const sent = "supplier_sku" in visit.form;
  return formShown(visit, {
    ...{ title: "Add a source", to: `/catalog/${id}/sources`, submit: "Show what comes of it", folded: { open: sent } },
    fields: [supplierField(providers), ...fieldsOf(null)],
  });
}

/** The fields of a source; null: of a new one. */
function fieldsOf(source: Source | null): FieldOf[] {
  const known = source === null ? null : costWords(source);
  const cost = known === null ? "Empty: what the last sync read of the plan." : `Empty: ${known} of the same plan.`;
  const number = { inputmode: "numeric" } as const;
  const [days, priority] = [source?.days?.toString() ?? "", source?.priority.toString() ?? ""];
  return [
    {
      ...{ name: "supplier_sku", label: "Plan", hint: "As the supplier names it.", required: true },
      value: source?.supplier_sku ?? "",
    },
    { name: "priority", label: "Priority", hint: "1 is asked first.", required: true, value: priority, ...number },
    { name: "days", label: "Days", hint: "Of a daily plan: for how many it is bought.", value: days, ...number },
    { name: "cost", label: "Cost of a unit", inputmode: "decimal", hint: cost },
    { name: "currency", label: "Currency of the cost", hint: "ISO 4217, e.g. USD." },
  ];
}

/** What a form says of a source. Throws `validation`. */
function sourceIn({ form }: ConsoleVisit) {
  const cost = optionalField(form, "cost");
  return {
    supplierSku: requiredField(form, "supplier_sku"),
    priority: integerField(form, "priority"),
    days: numberOrNull(form, "days"),
    cost: cost === undefined ? null : parseCost(cost),
    currency: optionalField(form, "currency")?.toUpperCase() ?? null,
  };
}

/** The source that the address or the form names, as it is; null: it would be new. */
async function namedIn(visit: ConsoleVisit) {
  const { id, sku, sources } = await seenIn(visit);
  const supplier = partIn(visit, "supplier") || requiredField(visit.form, "supplier");
  return { id, sku, sources, supplier, source: sources.find((one) => one.supplier === supplier) ?? null };
}

type Named = Awaited<ReturnType<typeof namedIn>>;

/** The same, which has to be there. Throws `not_found`. */
async function knownIn(visit: ConsoleVisit): Promise<Named & { source: Source }> {
  const named = await namedIn(visit);
  if (named.source === null) throw notFound("source", named.supplier);
  return { ...named, source: named.source };
}

async function sourcePage(visit: ConsoleVisit): Promise<Shown> {
  const { id, sku, supplier, source } = await knownIn(visit);
  const at = pathOf(id, supplier);
  const submit = "Show what comes of it";
  const body = (
    <>
      {backLink(visit, `/catalog/${id}`, sku)}
      {record(visit, [
        ["Cost", costWords(source)],
        ["State", { status: source.status }],
      ])}
      {formShown(visit, { title: "Change it", to: at, fields: fieldsOf(source), submit })}
      {formShown(visit, {
        ...{ title: "Remove it", to: `${at}/remove`, fields: [], submit, bad: true },
        intro: ABOUT_REMOVING,
      })}
    </>
  );
  return pageShown(visit, `${sku} from ${supplier}`, body);
}

function foreseen(after: Source, { source }: Named, visit: ConsoleVisit): ComponentChildren {
  const words = (one: Source) => ({
    Plan: one.supplier_sku,
    Days: one.days,
    Priority: one.priority,
    Cost: costWords(one) ?? "not known",
    State: plain(one.status),
  });
  const [now, then] = [source === null ? null : words(source), Object.entries(words(after))];
  return (
    <>
      {table(visit, { caption: "What changes", rows: then }, [
        { title: "Field", cell: ([name]) => name },
        { title: "Now", cell: ([name]) => new Map(Object.entries(now ?? {})).get(name) ?? null },
        { title: "Then", cell: ([, value]) => value },
      ])}
      <p>{ABOUT_ADDING} The cost of a product with sources is that of its first source.</p>
    </>
  );
}

const put = {
  title: ({ sku, supplier }: Named) => `Buy ${sku} from ${supplier}?`,
  ...{ button: "Save the source", command: addSource, foresee: foreseen },
  input: (visit: ConsoleVisit, { sku, supplier }: Named) => ({ ...sourceIn(visit), sku, supplier }),
  done: ({ sku, supplier, priority }: Source, { id }: Named): Shown => ({
    ...{ to: `/catalog/${id}`, notice: `${sku} is bought from ${supplier} at priority ${priority}.` },
  }),
};

const add = actPage({
  ...{ ...put, read: namedIn, at: ({ id }) => `/catalog/${id}`, verb: "sources" },
  carried: ["supplier", ...namesOf(fieldsOf(null))],
});

const atSource = ({ id, supplier }: Named) => pathOf(id, supplier);

const change = actPage({ ...put, read: knownIn, at: atSource, carried: namesOf(fieldsOf(null)) });

const remove = actPage({
  ...{ read: knownIn, at: atSource, verb: "remove", title: (named: Named) => removalQuestion(named) },
  ...{ button: "Remove the source", bad: true, carried: [], command: removeSource },
  input: (_visit, { sku, supplier }) => ({ sku, supplier }),
  foresee(_removed, { supplier, sources }) {
    const left = sources.filter((one) => one.supplier !== supplier).map((one) => one.supplier);
    return <p>{`${ABOUT_REMOVING} ${left.length === 0 ? "No source is left." : `Left: ${left.join(", ")}.`}`}</p>;
  },
  done: ({ sku, supplier }, { id }) => ({ to: `/catalog/${id}`, notice: `No more ${sku} is bought from ${supplier}.` }),
});

const [path, needs] = ["/catalog/:id/sources", "suppliers.write"] as const;

/** Where a product is bought: a source is added, changed and removed; `again` is the page of the product. */
export const productSourcePages = (again: (visit: ConsoleVisit) => Promise<Shown>) => [
  consolePage({ path, needs, ...add, again }),
  consolePage({ path: `${path}/:supplier`, needs, show: sourcePage, ...change, again: sourcePage }),
  consolePage({ path: `${path}/:supplier/remove`, needs, ...remove, again: sourcePage }),
];
