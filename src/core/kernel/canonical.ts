import { createHash } from "node:crypto";
import stringify from "safe-stable-stringify";

/** SHA-256 (hex) of plain JSON data; the order of keys makes no difference. */
export function payloadHash(value: unknown): string {
  return createHash("sha256")
    .update(stringify(value) ?? "")
    .digest("hex");
}
