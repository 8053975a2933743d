/** From → the states it may move to. One such table per machine; code, tests and docs read the same one. */
export type Transitions<S extends string> = { readonly [from in S]: readonly S[] };

/** Whether `to` may follow `from`. */
export function canMove<S extends string>(table: Transitions<S>, from: S, to: S): boolean {
  return table[from].includes(to);
}

/** Throws when `to` may not follow `from`: a programming error, never a caller's. */
export function assertMove<S extends string>(table: Transitions<S>, from: S, to: S): void {
  if (!canMove(table, from, to)) throw new Error(`illegal transition ${from} → ${to}`);
}

/** The states nothing follows. */
export function finalStates<S extends string>(table: Transitions<S>): S[] {
  return (Object.keys(table) as S[]).filter((state) => table[state].length === 0); // keys of a record are its states
}
