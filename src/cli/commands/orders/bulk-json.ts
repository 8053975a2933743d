import { findClashes, linesWords } from "../../../core/csv/clashes.ts";
import { refusalsOf } from "../../bulk/refusals.ts";
import { clean } from "../../output/clean.ts";
import { fitsRequest } from "./batches.ts";
import type { BulkFile, Given } from "./bulk-file.ts";

/** An item of the file; the first one is 1. */
interface Item {
  line: number;
  sent: unknown;
  /** Its id as the API compares ids; null: it has none. */
  id: string | null;
  /** What the API compares of items with one id. */
  hash: string;
}

/** Most items whose faults are named on the screen; the file of rejected ones has all. */
const MOST_NAMED = 20;

/** Reads orders from a JSON array of the API's items. Each is checked as the API does it. */
export async function readJsonOrders({ file, stdin }: Given): Promise<BulkFile> {
  const [{ readJsonArray }, { writeRejectedJson }, { tallyReasons }] = await Promise.all([
    import("../../bulk/json-array.ts"),
    import("../../bulk/rejected-json.ts"),
    import("../../csv/reasons.ts"),
  ]);
  const items = await itemsOf(await readJsonArray(file, "the API's order items", stdin));
  const check = await itemChecker(items);
  const tally = tallyReasons(["external_order_id"]);
  const orders: unknown[] = [];
  const bad: { index: number; reason: string; record: unknown }[] = [];
  const named: string[] = [];
  for (const item of items) {
    const problems = check(item);
    if (problems.length === 0) {
      orders.push(item.sent);
      continue;
    }
    const reason = problems.join("; ");
    tally.add(item.line, undefined, problems);
    bad.push({ index: item.line - 1, reason, record: item.sent });
    if (bad.length <= MOST_NAMED) named.push(`item ${item.line}${item.id ? ` (${clean(item.id)})` : ""}: ${reason}`);
  }
  if (bad.length > MOST_NAMED) named.push(`… and ${bad.length - MOST_NAMED} more`);
  const rejectedFile = await writeRejectedJson(file, bad);
  const findings = { reasons: tally.groups(), suggestions: [] };
  return { orders, rejected: bad.length, rejectedFile, what: "Items", named, ...findings };
}

async function itemsOf(orders: readonly unknown[]): Promise<Item[]> {
  const [{ payloadHash }, { ownId, plainId }] = await Promise.all([
    import("../../../core/kernel/canonical.ts"),
    import("../../../daemon/routes/order-input.ts"),
  ]);
  return orders.map((sent, index) => {
    const id: unknown = typeof sent === "object" && sent !== null ? Reflect.get(sent, "external_order_id") : null;
    return { line: index + 1, sent, id: typeof id === "string" ? ownId(id) : null, hash: payloadHash(plainId(sent)) };
  });
}

/** What is wrong with an item: by the schema of the API, or since another one has its id. */
async function itemChecker(items: readonly Item[]): Promise<(item: Item) => string[]> {
  const [{ bodyReader }, { checkText }, { BulkOrders }] = await Promise.all([
    import("../../../daemon/plugins/validation.ts"),
    import("../../../daemon/validation/text.ts"),
    import("../../../daemon/schemas/order.ts"),
  ]);
  const read = bodyReader(BulkOrders);
  const clashes = findClashes<Item>(
    ({ id }) => id,
    ({ hash }) => hash,
  );
  for (const item of items) clashes.see(item);
  return (item) => {
    const refusals = refusalsOf(() => {
      const body = { orders: [item.sent] };
      checkText(body);
      read(body);
    });
    // The body holds this order alone.
    const problems = refusals.map((sentence) => sentence.replace(/^orders\.0[. ]/, ""));
    const others = clashes.linesOf(item);
    if (others !== null) {
      problems.push(`external_order_id is that of another order too (${linesWords(others, "items")})`);
    }
    if (!fitsRequest(item.sent)) problems.push("it is larger than a request may be: split it into several orders");
    return problems;
  };
}
