import type { Prefetch, Read } from "./store.ts";

/** What commands look up by a key: within a batch once, and for many of its commands together. */
export interface Loader<K, V> {
  /** What the batch knows, or what is stored. */
  get(q: Read, key: K): Promise<V>;
  /** Replaces what the rest of the batch finds, as this command has changed it. */
  set(q: Read, key: K, value: V): void;
  /** The same, by what the batch knows, if it does. */
  change(q: Read, key: K, change: (known: V) => V): void;
  /** Makes a command's `prefetch` of the keys that each of its inputs will ask for. */
  prefetch<I>(keysOf: (input: I) => readonly K[]): Prefetch<I>;
}

interface Loading<K, V> {
  /** A key as one text; left out: it is one. */
  name?: (key: K) => string;
  /** Loads the values of keys, in their order, by one statement. */
  loadMany(q: Read, keys: readonly K[]): Promise<readonly V[]>;
  /** Loads one outside of a batch, where it may be locked, too; left out: by `loadMany`. */
  loadOne?(q: Read, key: K): Promise<V>;
}

/** A loader that keeps what it finds in the context of a batch, and nothing where there is none. */
export function loader<K, V>({ name = String, loadMany, loadOne }: Loading<K, V>): Loader<K, V> {
  const own = {};
  function knownIn({ batch }: Read): Map<string, V> | null {
    if (batch === null) return null;
    // Under a loader there are only values of its own.
    const known = (batch.loaded.get(own) ?? new Map()) as Map<string, V>;
    batch.loaded.set(own, known);
    return known;
  }

  async function loadEach(q: Read, keys: readonly K[]): Promise<void> {
    const known = knownIn(q);
    const missing = new Map(keys.map((key) => [name(key), key]));
    for (const key of missing.keys()) if (known?.has(key)) missing.delete(key);
    if (known === null || missing.size === 0) return;
    const values = await loadMany(q, [...missing.values()]);
    for (const [at, key] of [...missing.keys()].entries()) known.set(key, values[at] as V);
  }

  return {
    async get(q, key) {
      const known = knownIn(q);
      if (known?.has(name(key))) return known.get(name(key)) as V;
      const [value] = loadOne === undefined ? await loadMany(q, [key]) : [await loadOne(q, key)];
      known?.set(name(key), value as V);
      return value as V;
    },
    set: (q, key, value) => void knownIn(q)?.set(name(key), value),
    change(q, key, change) {
      const known = knownIn(q);
      if (known?.has(name(key))) known.set(name(key), change(known.get(name(key)) as V));
    },
    prefetch: (keysOf) => (tx, inputs) => loadEach(tx, inputs.flatMap(keysOf)),
  };
}
