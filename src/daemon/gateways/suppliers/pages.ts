import { type Reply, unclear } from "./reply.ts";

/** How a list is read page by page. */
interface Pages<Row> {
  /** So many at most: a list that is longer is no answer. */
  most: number;
  read(page: number): Promise<Reply<Row[]>>;
  /** What makes a row one of its own: pages may shift while they are read. */
  nameOf(row: Row): string;
  /** How many rows a page has that is not the last; left out: only one with nothing new is the last. */
  size?: number;
}

/** Every row of a list, each once; a page without an answer is the list's reply. */
export async function readPages<Row>({ most, read, nameOf, size = 1 }: Pages<Row>): Promise<Reply<Row[]>> {
  const rows = new Map<string, Row>();
  for (let page = 1; page <= most; page++) {
    const reply = await read(page);
    if (reply.kind !== "done") return reply;
    const before = rows.size;
    for (const row of reply.value) rows.set(nameOf(row), row);
    if (reply.value.length < size || rows.size === before) return { ...reply, value: [...rows.values()] };
  }
  return unclear("its list has more pages than can be read");
}
