import type { AiraloAllowance, AiraloSim } from "./airalo-memory.ts";

const DAY = 86_400_000;

/** The states that the provider names. */
export type AiraloState = "NOT_ACTIVE" | "ACTIVE" | "FINISHED" | "EXPIRED" | "UNKNOWN" | "RECYCLED";

/** Begins an allowance's time, where it has not begun. */
export function activate(allowance: AiraloAllowance, now: number): void {
  if (allowance.activated_at !== null) return;
  allowance.activated_at = now;
  allowance.expires_at = now + allowance.bought.days * DAY;
}

/** The state of one allowance. */
export function allowanceState(allowance: AiraloAllowance, now: number): AiraloState {
  if (allowance.finished_at !== null) return "FINISHED";
  if (allowance.activated_at === null) return "NOT_ACTIVE";
  return allowance.expires_at !== null && allowance.expires_at <= now ? "EXPIRED" : "ACTIVE";
}

/** Megabytes left of an allowance; an unlimited one says 0. */
export function remainingOf({ bought, used }: AiraloAllowance): number {
  return bought.amount === null ? 0 : Math.max(0, bought.amount - used);
}

/** An eSIM's state: that of its best allowance, unless another one is set. */
export function simState(sim: AiraloSim, now: number): AiraloState {
  if (sim.forced !== null) return sim.forced;
  const states = sim.allowances.map((one) => allowanceState(one, now));
  const order = ["ACTIVE", "NOT_ACTIVE", "FINISHED", "EXPIRED"] as const;
  return order.find((state) => states.includes(state)) ?? "UNKNOWN";
}

/** Sets what an eSIM has used so far, from its first allowance on. Use begins the time of what is used. */
export function useUp(sim: AiraloSim, megabytes: number, now: number): void {
  let left = megabytes;
  for (const allowance of sim.allowances) {
    const { amount } = allowance.bought;
    // What has expired keeps what it had used.
    if (allowanceState(allowance, now) === "EXPIRED") {
      left = Math.max(0, left - allowance.used);
      continue;
    }
    allowance.used = amount === null ? left : Math.min(left, amount);
    if (amount !== null) left -= allowance.used;
    else left = 0;
    if (allowance.used > 0) activate(allowance, now);
    const usedUp = amount !== null && allowance.used >= amount;
    allowance.finished_at = usedUp ? (allowance.finished_at ?? now) : null;
  }
}

/** What the eSIM's allowances hold and have left, in megabytes, without what has expired while another has not. */
export function totalsOf(sim: AiraloSim, now: number) {
  const live = sim.allowances.filter((one) => allowanceState(one, now) !== "EXPIRED");
  const counted = live.length > 0 ? live : sim.allowances;
  const unlimited = counted.some(({ bought }) => bought.amount === null);
  const sum = (of: (one: AiraloAllowance) => number) => counted.reduce((total, one) => total + of(one), 0);
  const expiries = sim.allowances.flatMap(({ expires_at }) => expires_at ?? []);
  return {
    is_unlimited: unlimited,
    total: unlimited ? 0 : sum(({ bought }) => bought.amount ?? 0),
    remaining: unlimited ? 0 : sum(remainingOf),
    total_voice: sum(({ bought }) => bought.voice ?? 0),
    total_text: sum(({ bought }) => bought.text ?? 0),
    expires_at: expiries.length > 0 ? Math.max(...expiries) : null,
  };
}
