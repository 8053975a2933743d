/** Orders in one request, as the API takes them. */
const MOST_ORDERS = 100;
/** The API takes bodies of 1 MiB; this leaves room for what is around the orders. */
const MOST_BYTES = 1024 * 1024 - 1024;

/** Whether one order fits into a request. */
export function fitsRequest(order: unknown): boolean {
  return bytesOf(order) <= MOST_BYTES;
}

/** Orders in their sequence, as many at a time as a request takes. */
export function* batchesOf(orders: readonly unknown[]): Generator<readonly unknown[]> {
  let batch: unknown[] = [];
  let size = 0;
  for (const order of orders) {
    const bytes = bytesOf(order);
    if (batch.length === MOST_ORDERS || (batch.length > 0 && size + bytes > MOST_BYTES)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(order);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}

/** With the comma after it. */
function bytesOf(order: unknown): number {
  return Buffer.byteLength(JSON.stringify(order)) + 1;
}
