/** Work that is claimed together: what waits for one partner, supplier, carrier or endpoint. */
export interface Lane {
  /** Unique in its pool. */
  id: string;
  /** Whose it is. Room is shared among keys first, then among the lanes of a key. */
  key: string;
  /** Production is served before the sandbox. */
  sandbox: boolean;
  /** Bounds of its own, where lower than the pool's. */
  perLane?: number;
  perKey?: number;
}

/** How much may be in flight at a time. */
export interface Bounds {
  overall: number;
  /** Less than `overall`, so that neither kind takes all places from the other. */
  production: number;
  sandbox: number;
  perKey: number;
  perLane: number;
}

/** How many of a lane may be claimed. */
export interface Room<L extends Lane> {
  lane: L;
  room: number;
}

/** What is in flight, by lane, by key, by kind and in all. */
export interface InFlight {
  enter(lane: Lane): void;
  leave(lane: Lane): void;
  lane(id: string): number;
  key(key: string): number;
  keys(): string[];
  kind(sandbox: boolean): number;
  total(): number;
}

/** Counters of what is in flight; `copy` makes others that start from these. */
export function countInFlight(): InFlight & { copy(): InFlight } {
  return counters(new Map(), new Map(), { production: 0, sandbox: 0 });
}

type Counts = Map<string, number>;
type Kinds = Record<"production" | "sandbox", number>;

function counters(lanes: Counts, keys: Counts, kinds: Kinds): ReturnType<typeof countInFlight> {
  const add = (counts: Counts, name: string, by: number) => {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  };
  const change = (by: number) => (lane: Lane) => {
    add(lanes, lane.id, by);
    add(keys, lane.key, by);
    kinds[lane.sandbox ? "sandbox" : "production"] += by;
  };
  return {
    enter: change(1),
    leave: change(-1),
    lane: (id) => lanes.get(id) ?? 0,
    key: (key) => keys.get(key) ?? 0,
    keys: () => [...keys.keys()],
    kind: (sandbox) => kinds[sandbox ? "sandbox" : "production"],
    total: () => kinds.production + kinds.sandbox,
    copy: () => counters(new Map(lanes), new Map(keys), { ...kinds }),
  };
}

/**
 * Whether one more fits beside `count` in flight: the first always, further ones only while fewer than are left free.
 * However many are slow, there is room for one that is not.
 */
function fits(count: number, most: number, free: number): boolean {
  return free > 0 && count < most && (count === 0 || count < free);
}

/** The keys of which nothing more may be claimed just now. */
export function fullKeys(flight: InFlight, bounds: Bounds): ReadonlySet<string> {
  const free = bounds.overall - flight.total();
  return new Set(flight.keys().filter((key) => !fits(flight.key(key), bounds.perKey, free)));
}

/**
 * Shares what is free among the lanes with something due: production first; a place at a time, in turn, to the key with
 * the least in flight, and of its lanes to the one with the least. `due` comes in the order in which equals take turns.
 */
export function share<L extends Lane>(due: L[], inFlight: { copy(): InFlight }, bounds: Bounds): Room<L>[] {
  const flight = inFlight.copy();
  const rooms = new Map<L, number>();
  for (const sandbox of [false, true]) {
    let waiting = [
      ...Map.groupBy(
        due.filter((lane) => lane.sandbox === sandbox),
        ({ key }) => key,
      ).values(),
    ];
    while (waiting.length > 0) {
      // One key has no others to take turns with.
      if (waiting.length > 1) waiting.sort(([a], [b]) => flight.key(a?.key ?? "") - flight.key(b?.key ?? ""));
      waiting = waiting.filter((lanes) => {
        const lane = nextLane(lanes, flight, bounds);
        if (lane === null) return false;
        flight.enter(lane);
        rooms.set(lane, (rooms.get(lane) ?? 0) + 1);
        return true;
      });
    }
  }
  return [...rooms].map(([lane, room]) => ({ lane, room }));
}

/** The lane of one key that gets the next place; null: none of them. */
function nextLane<L extends Lane>(lanes: L[], flight: InFlight, bounds: Bounds): L | null {
  const ofKind = (lane: Lane) => (lane.sandbox ? bounds.sandbox : bounds.production) - flight.kind(lane.sandbox);
  let next: L | null = null;
  for (const lane of lanes) {
    const perKey = Math.min(lane.perKey ?? bounds.perKey, bounds.perKey);
    const free = Math.min(bounds.overall - flight.total(), ofKind(lane));
    if (!fits(flight.key(lane.key), perKey, free)) continue;
    const perLane = Math.min(lane.perLane ?? bounds.perLane, bounds.perLane);
    if (!fits(flight.lane(lane.id), perLane, perKey - flight.key(lane.key))) continue;
    if (next === null || flight.lane(lane.id) < flight.lane(next.id)) next = lane;
  }
  return next;
}

/** Whose turn it is among lanes that are equal otherwise: those first that were served longest ago, or never. */
export function createTurns() {
  const served = new Map<string, number>();
  let count = 0;
  return {
    order<L extends Lane>(lanes: L[]): L[] {
      const known = new Set(lanes.map(({ id }) => id));
      for (const id of served.keys()) if (!known.has(id)) served.delete(id);
      return lanes.toSorted((a, b) => (served.get(a.id) ?? 0) - (served.get(b.id) ?? 0));
    },
    took(rooms: Room<Lane>[]): void {
      count += 1;
      for (const { lane } of rooms) served.set(lane.id, count);
    },
  };
}
