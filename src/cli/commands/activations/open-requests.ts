import type { Activation, PageBody } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import { interrupted } from "../../kernel/errors.ts";
import type { TargetItem } from "./targets.ts";

/**
 * The requests that may still be changed, newest first, read page by page from the API; `enough` may end that early.
 */
export async function openRequests(
  context: Context,
  api: Api,
  enough: (found: readonly Activation[]) => boolean = () => false,
): Promise<Activation[]> {
  const { startProgress } = await import("../../output/progress.ts");
  const progress = startProgress(context.globals);
  const found: Activation[] = [];
  try {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      if (context.interruption.aborted) throw interrupted("Nothing was changed.");
      const query = { status: "pending", limit: 100, cursor };
      const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
      found.push(...body.data);
      cursor = body.pagination.next_cursor;
      if (enough(found)) break;
      if (cursor !== null) progress.show("Reading what is open", found.length, null);
    }
  } finally {
    progress.stop();
  }
  return found;
}

/** The request of each item as it is now, in their order; null: it is not open, or there is none. */
export async function requestsOf(
  context: Context,
  api: Api,
  items: readonly TargetItem[],
): Promise<(Activation | null)[]> {
  const byKey = new Map(items.flatMap(({ picked }) => (picked === undefined ? [] : keysOf(picked))));
  const isKnown = ({ key }: TargetItem) => byKey.has(keyOf(key));
  if (!items.every(isKnown)) {
    let seen = 0;
    await openRequests(context, api, (found) => {
      for (const one of found.slice(seen)) for (const [key, value] of keysOf(one)) byKey.set(key, value);
      seen = found.length;
      return items.every(isKnown);
    });
  }
  return items.map(({ key }) => byKey.get(keyOf(key)) ?? null);
}

function keysOf(one: Activation): [string, Activation][] {
  return [
    [one.id, one],
    [one.iccid, one],
  ];
}

function keyOf(key: TargetItem["key"]): string {
  return "iccid" in key ? key.iccid : key.activation_id.toLowerCase();
}
