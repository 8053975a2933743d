import type { FieldErrors } from "../../core/kernel/problem.ts";
import { allowsNull, type Shape } from "./shape.ts";

/** What a PATCH must not clear: the fields that it sends as null and that allow no null. */
export function clearingFaults(shape: Shape): (sent: unknown) => FieldErrors {
  const fields = Object.entries(shape.properties ?? {});
  const kept = fields.filter(([, field]) => !allowsNull(field)).map(([name]) => name);
  return (sent) => {
    if (typeof sent !== "object" || sent === null) return {};
    const cleared = kept.filter((name) => Object.hasOwn(sent, name) && Reflect.get(sent, name) === null);
    return Object.fromEntries(cleared.map((name) => [name, ["cannot be cleared"]]));
  };
}
