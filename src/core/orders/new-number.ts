import { isoTime } from "../kernel/clock.ts";
import { randomAlphanumeric } from "../kernel/ids.ts";
import { isListed, listOf } from "../store/rows.ts";
import { remember } from "../store/run-memory.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { orderIdByNumber } from "./order.ts";

const taken = statement((db, t, slot: Slots<{ numbers: string }>) => {
  const { order_number } = t.orders;
  return db
    .select({ order_number })
    .from(t.orders)
    .where(isListed(t, order_number, slot.numbers));
});

/** The number of an order of that moment (ms): ORD-<yyyymmdd>-<5 alphanumerics>, by UTC's date; unique. */
export async function newNumber(tx: Tx, created_at: number): Promise<string> {
  const start = startOf(created_at);
  for (;;) {
    const ready = readyNumbers(tx, start).pop();
    if (ready !== undefined) return ready;
    const number = `${start}${randomAlphanumeric(tx.ids, 5)}`;
    if ((await orderIdByNumber(tx, number)) === null) return number;
  }
}

/** Finds numbers for orders of this moment that commands of a run create. */
export async function findNumbers(tx: Tx, count: number): Promise<void> {
  const start = startOf(tx.now);
  const numbers = new Set(Array.from({ length: count }, () => `${start}${randomAlphanumeric(tx.ids, 5)}`));
  const used = await taken(tx, { numbers: listOf([...numbers]) });
  for (const { order_number } of used) numbers.delete(order_number);
  remember(tx, start, [...readyNumbers(tx, start), ...numbers]);
}

/** What `findNumbers` has found, and no command has taken. */
function readyNumbers(tx: Tx, start: string): string[] {
  const ready: unknown = tx.memory?.found.get(start);
  return Array.isArray(ready) ? ready : [];
}

function startOf(created_at: number): string {
  return `ORD-${isoTime(created_at).slice(0, 10).replaceAll("-", "")}-`;
}
