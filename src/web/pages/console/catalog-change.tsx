import type { ComponentChildren } from "preact";
import { changeProduct, type ProductEdit } from "../../../core/catalog/change.ts";
import { priceDoubts } from "../../../core/catalog/price-doubts.ts";
import { formatMoney } from "../../../core/kernel/money.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import type { Row } from "../../../core/store/schema/tables.ts";
import { type ProductStatus, productStatuses, whenShorts } from "../../../core/store/schema/values.ts";
import { type FieldOf, formShown, saidBy } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { mergedVisit, SHOWN_FIELD } from "../../parts/merging.ts";
import { table } from "../../parts/shown.tsx";
import { moneyWords, plain } from "../../parts/words.ts";
import { type ConsoleVisit, choiceField, field, moneyField, type Shown } from "../../session/visit.ts";

type ProductRow = Row<"products">;

function fieldsOf(row: ProductRow): FieldOf[] {
  const [price, low] = [formatMoney(row.price_cents, row.currency), row.low_stock?.toString() ?? ""];
  const short = [["review", "orders wait in review"] as const, ["out_of_stock", "it goes off sale"] as const];
  const ofStock: FieldOf[] = [
    { name: "low_stock", label: "Alert below", inputmode: "numeric", value: low, hint: "Free eSIMs; empty: no alert." },
    { name: "when_short", label: "When the stock ends", options: short, value: row.when_short ?? "review" },
  ];
  return [
    { name: "price", label: `Price (${row.currency})`, inputmode: "decimal", value: price, required: true },
    { name: "status", label: "Status", options: productStatuses, value: row.status },
    ...(row.delivery_method === "stock" ? ofStock : []),
  ];
}

/** The form that changes a product. */
export function changeForm(visit: ConsoleVisit, row: ProductRow): ComponentChildren {
  return formShown(visit, {
    ...{ title: "Change", to: `/catalog/${row.id}`, submit: "Show what changes" },
    ...{ fields: fieldsOf(row), ofRecord: {} },
  });
}

interface Change {
  edit: Omit<ProductEdit, "actor">;
  /** Each field that changes, in words. */
  words: (readonly [name: string, from: string, to: string])[];
  price_cents: number;
}

/** What a form changes of a product, and nothing else of it. Throws `validation`. */
function changeIn({ form }: ConsoleVisit, row: ProductRow): Change {
  const { sku, currency } = row;
  const price_cents = moneyField(form, "price", currency);
  const status = choiceField(form, "status", productStatuses);
  const words: Change["words"] = [];
  const fields: { price_cents?: number; status?: ProductStatus } = {};
  const rule: ProductEdit["rule"] = {};
  if (price_cents !== row.price_cents) {
    fields.price_cents = price_cents;
    words.push(["Price", moneyWords(row.price_cents, currency), moneyWords(price_cents, currency)]);
  }
  if (status !== row.status) {
    fields.status = status;
    words.push(["Status", plain(row.status), plain(status)]);
  }
  if (row.delivery_method === "stock") {
    const low = lowStockIn(form);
    const [was, short] = [row.when_short ?? "review", choiceField(form, "when_short", whenShorts)];
    if (low !== row.low_stock) {
      rule.low_stock = low;
      words.push(["Alert below", String(row.low_stock ?? "never"), String(low ?? "never")]);
    }
    if (short !== was) {
      rule.when_short = short;
      words.push(["When the stock ends", plain(was), plain(short)]);
    }
  }
  const edit = { sku, fields: Object.keys(fields).length === 0 ? null : fields, rule };
  return { edit, words, price_cents };
}

function lowStockIn(form: ConsoleVisit["form"]): number | null {
  const typed = field(form, "low_stock");
  if (typed === "") return null;
  if (!/^[1-9]\d{0,8}$/.test(typed)) throw invalid({ low_stock: ["must be a whole number above 0, or empty"] });
  return Number(typed);
}

/** Shows what a form changes of a product, or changes it where that was seen. Throws `validation`. */
export async function changeIt(visit: ConsoleVisit, row: ProductRow): Promise<Shown> {
  const { store } = visit;
  const to = `/catalog/${row.id}`;
  const { edit, words, price_cents } = changeIn(mergedVisit(visit, saidBy(fieldsOf(row))), row);
  if (words.length === 0) return { to, notice: "Nothing was to be changed." };
  if (isConfirmed(visit)) {
    await visit.write(changeProduct, { ...edit });
    return { to, notice: `${row.sku} is changed.` };
  }
  await visit.rehearse(changeProduct, { ...edit });
  const doubts = await store.read(priceDoubts, { ...row, price_cents });
  return consequenceShown(visit, {
    ...{ title: `Change ${row.sku}?`, to, act: "Change", back: to },
    carried: ["price", "status", "low_stock", "when_short", SHOWN_FIELD],
    kind: doubts.length > 0 ? "bad" : undefined,
    children: (
      <>
        {doubts.length > 0 && <p class="alert bad">Look at the price again: {doubts.join("; ")}.</p>}
        {table(visit, { caption: "What changes", rows: words }, [
          { title: "Field", cell: ([name]) => name },
          { title: "Now", cell: ([, from]) => from },
          { title: "Then", cell: ([, , then]) => then },
        ])}
        <p>It holds from the next order on. Orders that were placed keep their price.</p>
      </>
    ),
  });
}
