import { type Reply, unclear } from "./reply.ts";

/** How a list is read page by page. */
interface Pages<Row> {
  /** So many at most: a list that is longer is no answer. */
  most: number;
  read(page: number): Promise<Reply<Row[]>>;
  /** Whether the list ends with this page. */
  isLast(page: readonly Row[], before: readonly Row[]): boolean;
}

/** Every row of a list; a page without an answer is the list's reply. */
export async function readPages<Row>({ most, read, isLast }: Pages<Row>): Promise<Reply<Row[]>> {
  const rows: Row[] = [];
  for (let page = 1; page <= most; page++) {
    const reply = await read(page);
    if (reply.kind !== "done") return reply;
    const isEnd = isLast(reply.value, rows);
    rows.push(...reply.value);
    if (isEnd) return { ...reply, value: rows };
  }
  return unclear("its list has more pages than can be read");
}
