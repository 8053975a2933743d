import type { Context } from "../../frame/context.ts";

/** What to say where an order waits for a daemon that does not run; undefined where one runs or may run. */
export async function undeliveredNote(context: Context): Promise<string | undefined> {
  const where = await context.where();
  if (where.kind !== "directory") return undefined;
  const { isServed } = await import("../../../core/store/data-directory.ts");
  if (isServed(where.path)) return undefined;
  return "No daemon serves this data: what was ordered waits until esimctl serve delivers it.";
}
