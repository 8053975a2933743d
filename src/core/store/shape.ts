/** What a database holds that shapes its data, by name (`table orders`, `index orders_due`), as the engine words it. */
export type Shape = ReadonlyMap<string, string>;

/** How a live schema differs from the one that the program's migrations make. Names, sorted. */
export interface Drift {
  missing: string[];
  altered: string[];
  /** There, though no migration made it. */
  foreign: string[];
}

/** What an engine reports about a database without changing it. */
export interface Inspection {
  /** Words of the engine about what is broken in the file; empty: nothing, or it looks after that itself. */
  damage: string[];
  /** Null: this user may not do what comparing takes. */
  drift: Drift | null;
  /** Migrations that the next start will apply. */
  pending: string[];
}

/** What differs between the shape that should be there and the one that is. */
export function driftBetween(expected: Shape, live: Shape): Drift {
  const names = [...expected.keys()];
  return {
    missing: names.filter((name) => !live.has(name)).sort(),
    altered: names.filter((name) => live.has(name) && live.get(name) !== expected.get(name)).sort(),
    foreign: [...live.keys()].filter((name) => !expected.has(name)).sort(),
  };
}
