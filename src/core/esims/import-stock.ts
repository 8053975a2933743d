import { and, eq, isNull, or } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { EsimId, ProductId } from "../kernel/brand.ts";
import { luhnValid } from "../kernel/check-digits.ts";
import type { Checked } from "../kernel/checked.ts";
import { counted } from "../kernel/counted.ts";
import { endsInZeros, iccidFault, ZEROS } from "../kernel/iccid.ts";
import { newId } from "../kernel/ids.ts";
import { currencyDecimals } from "../kernel/money.ts";
import { invalid, notFound, Problem } from "../kernel/problem.ts";
import { insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type ActivationCode, activationCode, hostFault, isMatchingId, readActivationCode } from "./activation-code.ts";
import { type EsimCodes, openCodes, sealCodes } from "./sealed-codes.ts";
import { addToPool } from "./stock.ts";

/** One eSIM to be put in stock. */
export interface StockRow extends EsimCodes {
  iccid: string;
}

const productBySku = statement((db, t, slot: Slots<{ sku: string }>) =>
  db
    .select({ id: t.products.id, delivery_method: t.products.delivery_method, currency: t.products.currency })
    .from(t.products)
    .where(eq(t.products.sku, slot.sku)),
);

const realIccid = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db
    .select({
      id: t.esims.id,
      iccid: t.esims.iccid,
      environment: t.esims.environment,
      sealed: t.esims.sealed,
      product_id: t.esims.product_id,
      order_id: t.esims.order_id,
      sku: t.products.sku,
    })
    .from(t.esims)
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
    .where(
      and(
        eq(t.esims.iccid, slot.iccid),
        or(isNull(t.esims.environment), eq(t.esims.environment, "production")),
        isNull(t.esims.retired_at),
      ),
    ),
);

/** What became of a row. */
export type StockOutcome = "imported" | "duplicate" | { rejected: string };

/** The product whose stock is filled. Throws `not_found`, or `conflict` when it is not delivered from stock. */
export async function stockedProduct(q: Read, sku: string): Promise<{ id: ProductId; currency: string }> {
  const product = first(await productBySku(q, { sku }));
  if (product === null) throw notFound("product", sku);
  if (product.delivery_method !== "stock") {
    throw new Problem("conflict", `${sku} is delivered by ${product.delivery_method}, not from stock.`);
  }
  return product;
}

/**
 * Puts eSIMs in stock, all in one transaction; an ICCID that this product has already with the same codes is a
 * duplicate, one that has other codes or that another product has is rejected. The rows were checked with
 * `checkStockRow`. Throws as `stockedProduct` does.
 */
export async function importStock(
  tx: Tx,
  input: { sku: string; rows: StockRow[]; cost?: StockCost | null; actor: string },
): Promise<StockOutcome[]> {
  const { id: productId, currency } = await stockedProduct(tx, input.sku);
  const cost = unitCost(input.cost ?? null, currency);
  const outcomes: StockOutcome[] = [];
  for (const row of input.rows) outcomes.push(await addOne(tx, productId, { ...row, ...cost }));
  const added = outcomes.filter((outcome) => outcome === "imported").length;
  await addToPool(tx, productId, added);
  await recordAudit(tx, {
    actor: input.actor,
    action: "stock.import",
    targetKind: "product",
    targetId: productId,
    note: counted(added, "eSIM"),
  });
  return outcomes;
}

/** What each eSIM of an import cost, in 1/10,000; `currency` null: the product's. */
export interface StockCost {
  cost: number;
  currency: string | null;
}

type UnitCost = Pick<Row<"esims">, "cost" | "cost_currency">;

/** Throws `validation` for what is no currency. */
function unitCost(given: StockCost | null, currency: string): UnitCost {
  if (given === null) return { cost: null, cost_currency: null };
  const cost_currency = given.currency ?? currency;
  if (currencyDecimals(cost_currency) === null)
    throw invalid({ cost_currency: ["must be an ISO 4217 code such as USD"] });
  return { cost: given.cost, cost_currency };
}

async function addOne(tx: Tx, productId: ProductId, row: StockRow & UnitCost): Promise<StockOutcome> {
  const known = first(await realIccid(tx, { iccid: row.iccid }));
  if (known !== null) {
    if (known.product_id === productId) return ofKnown(openCodes(tx, known), row);
    return { rejected: `iccid ${known.order_id === null ? "is in stock for" : "was sold as"} ${known.sku}` };
  }
  const id = newId<EsimId>(tx);
  await insert(tx, "esims", [
    {
      id,
      product_id: productId,
      iccid: row.iccid,
      ...sealCodes(tx, id, row),
      cost: row.cost,
      cost_currency: row.cost_currency,
      status: "inactive",
      created_at: tx.now,
    },
  ]);
  return "imported";
}

/** A row whose ICCID is there: only one that says the same is a duplicate. */
function ofKnown(known: EsimCodes | null, row: StockRow): StockOutcome {
  if (known === null) return { rejected: "iccid is in stock, and its codes cannot be read to compare them" };
  const others = (["smdp_address", "matching_id", "confirmation_code"] as const).filter(
    (field) => !isSame(known[field] ?? "", row[field] ?? ""),
  );
  const named = others.length > 0 || isSame(activationCode(known), activationCode(row)) ? others : ["activation_code"];
  return named.length === 0 ? "duplicate" : { rejected: `iccid is in stock with another ${named.join(", ")}` };
}

/** A good row may have something doubtful about it, in words. */
type CheckedStock = Checked<StockRow> & { warnings?: readonly string[] };

/** Checks one line of a stock file; `luhn` false lets a wrong check digit pass. */
export function checkStockRow(values: Record<string, string>, options: { luhn: boolean }): CheckedStock {
  const problems: string[] = [];
  const text = (name: string) => (values[name] ?? "").trim();
  const iccid = text("iccid");
  const fault = iccidFault(iccid, { least: 19 });
  if (fault !== null) problems.push(`iccid ${fault}`);
  else if (options.luhn && !luhnValid(iccid)) problems.push("iccid has a wrong check digit (--no-luhn lets it pass)");
  const code = codeOf(text, problems);
  const confirmation_code = text("confirmation_code") || null;
  if (problems.length > 0 || code === null) return { problems };
  const isAsked = code.confirmation_required && confirmation_code === null;
  const warnings = [
    ...(options.luhn && endsInZeros(iccid) ? [`iccid ${ZEROS}`] : []),
    ...(isAsked ? ["activation_code asks for a confirmation code, and the row has none"] : []),
  ];
  return { ok: { iccid, ...code, confirmation_code }, warnings };
}

/** The code that a row says, in one column or in two; null, with its problems: none. */
function codeOf(text: (name: string) => string, problems: string[]): ActivationCode | null {
  const [whole, smdp_address, matching_id] = [text("activation_code"), text("smdp_address"), text("matching_id")];
  const isSplit = smdp_address !== "" && matching_id === "" && isMatchingId(whole);
  // Beside an address some suppliers call the matching ID the activation code.
  if (whole === "" || isSplit) return columnsOf({ smdp_address, matching_id: isSplit ? whole : matching_id }, problems);
  const read = readActivationCode(whole);
  if ("problems" in read) {
    problems.push(`activation_code ${read.problems}`);
    return null;
  }
  const { ok } = read;
  const others = [
    ...(smdp_address !== "" && !isSame(smdp_address, ok.smdp_address) ? ["smdp_address"] : []),
    ...(matching_id !== "" && !isSame(matching_id, ok.matching_id) ? ["matching_id"] : []),
  ];
  if (others.length > 0) problems.push(`activation_code says another ${others.join(" and ")} than its column`);
  return ok;
}

function columnsOf(columns: Pick<ActivationCode, "smdp_address" | "matching_id">, problems: string[]): ActivationCode {
  const fault = hostFault(columns.smdp_address);
  if (fault !== null) problems.push(`smdp_address ${fault}`);
  if (!isMatchingId(columns.matching_id)) problems.push("matching_id must be letters, digits and hyphens");
  return { ...columns, oid: null, confirmation_required: false };
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
