import { addAbortSignal, Readable } from "node:stream";

/** A stream of which the beginning was looked at; `input` has it whole. */
interface Peeked {
  /** Whether it begins with [ or {, after blanks and a byte-order mark. */
  isJson: boolean;
  input: Readable;
}

/** Looks how a stream begins. `signal` ends the wait for it. */
export async function peekForJson(stream: Readable, signal: AbortSignal): Promise<Peeked> {
  const chunks: AsyncIterator<Buffer> = addAbortSignal(signal, stream)[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  let first = "";
  while (first === "") {
    const { done, value } = await chunks.next();
    if (done) break;
    head.push(value);
    // A byte-order mark counts as a blank.
    first = value.toString("utf8").trimStart().slice(0, 1);
  }
  async function* whole() {
    yield* head;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  return { isJson: first === "[" || first === "{", input: Readable.from(whole()) };
}
