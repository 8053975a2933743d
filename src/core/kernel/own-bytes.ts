/** What a kept value takes beside its content: its entry, its objects, and the head of its memory. */
export const ENTRY_BYTES = 600;

/**
 * A text's UTF-8, or a copy of bytes, in memory of its own, for what is kept: a small Buffer is otherwise a view of a
 * slab of up to 64 KiB, and keeps all of it from being freed.
 */
export function ownBytes(content: string | Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(content));
  if (typeof content === "string") bytes.write(content);
  else bytes.set(content);
  return bytes;
}
