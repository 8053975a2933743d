import type { AiraloMemory, AiraloSim } from "./airalo-memory.ts";
import { lowDataNotices } from "./airalo-notices.ts";
import { activate, allowanceState, useUp } from "./airalo-usage.ts";
import type { PlayedEsim, ProviderCallback } from "./provider.ts";

/**
 * What a phone does with an eSIM, as far as this provider sees it: an installation shows nowhere, and neither does an
 * eSIM that is switched on before it is used. A suspended one is UNKNOWN, a deleted one RECYCLED, which is for good.
 */
export function playSim(memory: AiraloMemory, played: PlayedEsim, now: number): ProviderCallback[] | null {
  const sim = memory.sims.get(played.iccid);
  if (sim === undefined) return null;
  if (sim.forced === "RECYCLED") return [];
  if (played.used_mb !== undefined) useUp(sim, played.used_mb, now);
  if (played.state !== undefined) states[played.state](sim, now);
  return lowDataNotices(memory, sim, now);
}

const states: Record<NonNullable<PlayedEsim["state"]>, (sim: AiraloSim, now: number) => void> = {
  installed: unforce,
  enabled: unforce,
  in_use(sim, now) {
    unforce(sim);
    const byState = (state: string) => sim.allowances.find((one) => allowanceState(one, now) === state);
    const waiting = byState("ACTIVE") === undefined ? byState("NOT_ACTIVE") : undefined;
    if (waiting !== undefined) activate(waiting, now);
  },
  used_up(sim, now) {
    unforce(sim);
    for (const allowance of sim.allowances) {
      activate(allowance, now);
      allowance.used = allowance.bought.amount ?? allowance.used;
      allowance.finished_at ??= now;
    }
  },
  expired(sim, now) {
    unforce(sim);
    for (const allowance of sim.allowances) {
      activate(allowance, now);
      if (allowance.finished_at === null) allowance.expires_at = Math.min(allowance.expires_at ?? now, now);
    }
  },
  suspended(sim) {
    sim.forced = "UNKNOWN";
  },
  deleted(sim, now) {
    sim.forced = "RECYCLED";
    sim.recycled_at = now;
  },
};

function unforce(sim: AiraloSim): void {
  sim.forced = null;
}
