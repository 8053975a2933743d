import type { Command, Store } from "./store.ts";

/** Runs a command by `write` and takes all of it back by failing in the end; answers what the command answered. */
export async function rehearse<I, O>(write: Store["write"], command: Command<I, O>, input: I): Promise<O> {
  const takenBack = new Error("this was a rehearsal");
  const results: { value: O }[] = [];
  try {
    return await write<null, O>(async (tx) => {
      results.push({ value: await command(tx, input) });
      throw takenBack;
    }, null);
  } catch (error) {
    const last = results.at(-1);
    if (error === takenBack && last !== undefined) return last.value;
    throw error;
  }
}
