import type { Activation } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { requestsOf } from "./open-requests.ts";
import type { TargetItem, Targets } from "./targets.ts";

/** One item, and its request as it is; null: not open. */
export interface Shown<T extends TargetItem = TargetItem> {
  item: T;
  now: Activation | null;
}

/** Lines that a screen or two hold; a person who confirms more has them in a file. */
const MOST = 200;

/** The columns that identify a request. */
export const meantColumns: Column<Shown>[] = [
  { title: "iccid", value: ({ item: { key }, now }) => now?.iccid ?? Object.values(key)[0] ?? null },
  { title: "customer", value: ({ now }) => now?.customer_name ?? null, shrinks: true },
  { title: "date", value: ({ now }) => now?.activation_date ?? "not open" },
];

/** The question of a confirmation, and the columns shown of each request. */
interface Asked<T extends TargetItem> {
  question: string;
  columns: readonly Column<Shown<T>>[];
}

/** Shows what will change of which request, and asks. Throws what `confirm` throws; the targets are closed then. */
export async function confirmChange<T extends TargetItem>(
  context: Context,
  api: Api,
  targets: Targets & { items: T[] },
  { question, columns }: Asked<T>,
): Promise<void> {
  const { items } = targets;
  const changes = async (sheet: Sheet) => {
    const requests = await requestsOf(context, api, items.slice(0, MOST));
    const rows = items.slice(0, MOST).map((item, at) => ({ item, now: requests[at] ?? null }));
    const more = items.length - rows.length;
    return `${sheet.table(columns, rows, "")}${more > 0 ? `\n… and ${more} more` : ""}`;
  };
  try {
    await context.confirm(question, { whose: api.actsAs, changes });
  } catch (error) {
    await targets.close();
    throw error;
  }
}
