import { randomInt } from "node:crypto";
import { type AiraloPackage, airaloCatalog } from "./airalo-catalog.ts";

/** An order of eSIMs or of a top-up. */
export interface AiraloOrder {
  id: number;
  created_at: number;
  /** Before this moment no list has it. */
  listed_at: number;
  bought: AiraloPackage;
  units: number;
  /** The quantity as it was sent. */
  quantity: string | number;
  description: string | null;
  /** The eSIMs bought; for a top-up the one that it was for. */
  sims: AiraloSim[];
}

/** An allowance on an eSIM: the one that it came with, or a top-up. */
export interface AiraloAllowance {
  id: number;
  bought: AiraloPackage;
  /** Megabytes. */
  used: number;
  /** null: not in use yet. */
  activated_at: number | null;
  expires_at: number | null;
  finished_at: number | null;
}

/** An eSIM, with what became of it. */
export interface AiraloSim {
  id: number;
  created_at: number;
  iccid: string;
  matching_id: string;
  confirmation_code: string | null;
  order: AiraloOrder;
  allowances: AiraloAllowance[];
  /** A state in place of the one that its allowances say; null: none. */
  forced: "UNKNOWN" | "RECYCLED" | null;
  recycled_at: number | null;
  /** The levels of low data that were sent. */
  notified: Set<string>;
}

/** All that the simulated provider keeps. */
export interface AiraloMemory {
  /** Cents of USD. */
  balance: number;
  /** Access tokens with the end of each. */
  tokens: Map<string, number>;
  orders: AiraloOrder[];
  sims: Map<string, AiraloSim>;
  /** What is left of packages that are scarce. */
  stock: Map<string, number>;
  /** Where each kind of notification goes. */
  contacts: Map<string, string>;
  /** Lists leave out orders that are younger (ms). */
  list_delay_ms: number;
  /** A number for what is new: each one once. */
  next(): number;
}

const STARTING_BALANCE = 100_000;

/** The memory of an account that has bought nothing. */
export function emptyMemory(next: AiraloMemory["next"]): AiraloMemory {
  const scarce = airaloCatalog.flatMap(({ sims }) => sims).filter(({ stock }) => stock !== null);
  return {
    balance: STARTING_BALANCE,
    tokens: new Map(),
    orders: [],
    sims: new Map(),
    stock: new Map(scarce.map(({ id, stock }) => [id, stock ?? 0])),
    contacts: new Map(),
    list_delay_ms: 0,
    next,
  };
}

/** Numbers from a random start, so that two runs beside the same data hand out other ICCIDs. */
export function airaloNumbers(): AiraloMemory["next"] {
  let last = randomInt(1_000_000, 9_000_000_000);
  return () => {
    last += 1;
    return last;
  };
}
