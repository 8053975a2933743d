import { notFound, offsetMoment, plainMoment, success } from "./airalo-answers.ts";
import { readFilters, readInclude } from "./airalo-filters.ts";
import type { AiraloMemory, AiraloSim } from "./airalo-memory.ts";
import { lowDataNotices } from "./airalo-notices.ts";
import { listedOrder, type OrderInclude, simBody } from "./airalo-order-body.ts";
import { isListed } from "./airalo-order-list.ts";
import { airaloPricing, packageFacts } from "./airalo-packages.ts";
import { pageOf, readPage } from "./airalo-pages.ts";
import { activate, allowanceState, remainingOf, simState, totalsOf, useUp } from "./airalo-usage.ts";
import type { PlayedEsim, ProviderAnswer, ProviderCallback, ProviderRequest } from "./provider.ts";

const includes = ["order", "order.status", "order.user", "share"] as const;
type SimInclude = (typeof includes)[number];

/** `GET /sims`: the newest first, once lists have their order. */
export function listSims(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const { query, now } = request;
  const asked = readPage(query);
  if ("fault" in asked) return asked.fault;
  const including = readInclude(query, includes);
  if ("fault" in including) return including.fault;
  const read = readFilters(query, ["created_at", "iccid"]);
  if ("fault" in read) return read.fault;
  const iccids = read.filters.like("iccid");
  const found = [...memory.sims.values()].filter(
    (sim) => isListed(memory, sim.order, now) && read.filters.within(sim.created_at) && iccids(sim.iccid),
  );
  const { data, links, meta } = pageOf(found.reverse(), asked.page, request);
  return { status: 200, body: { data: data.map((one) => listedSim(one, including.include)), links, meta } };
}

/** `GET /sims/{iccid}`. */
export function showSim(memory: AiraloMemory, { query }: ProviderRequest, iccid: string): ProviderAnswer {
  const including = readInclude(query, includes);
  if ("fault" in including) return including.fault;
  const sim = memory.sims.get(iccid);
  return sim === undefined ? notFound() : success(listedSim(sim, including.include));
}

function listedSim(sim: AiraloSim, include: ReadonlySet<SimInclude>) {
  const ofOrder = new Set<OrderInclude>();
  if (include.has("order.status")) ofOrder.add("status");
  if (include.has("order.user")) ofOrder.add("user");
  const withOrder = include.has("order") || ofOrder.size > 0;
  const sharing = { link: `https://esims.example/${sim.id}`, access_code: String(sim.id % 10_000).padStart(4, "0") };
  return {
    ...simBody(sim),
    voucher_code: null,
    order: null,
    brand_settings_name: null,
    recycled: sim.forced === "RECYCLED",
    recycled_at: sim.recycled_at === null ? null : plainMoment(sim.recycled_at),
    ...(withOrder
      ? { simable: { ...listedOrder(sim.order, ofOrder), ...(include.has("share") ? { sharing } : {}) } }
      : {}),
  };
}

/** `GET /sims/{iccid}/usage`. The provider's cache of 20 minutes is left out: a change shows at once. */
export function showUsage(memory: AiraloMemory, { now }: ProviderRequest, iccid: string): ProviderAnswer {
  const sim = memory.sims.get(iccid);
  if (sim === undefined) return notFound();
  const status = simState(sim, now);
  const { expires_at, remaining, ...totals } = totalsOf(sim, now);
  if (status === "RECYCLED") {
    const nothing = { remaining: 0, total: 0, expired_at: null, is_unlimited: null };
    return success({ ...nothing, status, remaining_voice: 0, remaining_text: 0, total_voice: 0, total_text: 0 });
  }
  return success({
    remaining: Math.floor(remaining),
    total: totals.total,
    expired_at: expires_at === null ? null : plainMoment(expires_at),
    is_unlimited: totals.is_unlimited,
    status,
    // Calls and messages are not played.
    remaining_voice: totals.total_voice,
    remaining_text: totals.total_text,
    total_voice: totals.total_voice,
    total_text: totals.total_text,
  });
}

/** `GET /sims/{iccid}/packages`: what the eSIM came with and its top-ups, the newest first. */
export function listAllowances(memory: AiraloMemory, { now }: ProviderRequest, iccid: string): ProviderAnswer {
  const sim = memory.sims.get(iccid);
  if (sim === undefined) return notFound();
  const moment = (ms: number | null) => (ms === null ? null : offsetMoment(ms));
  const data = sim.allowances.toReversed().map((one) => ({
    id: one.id,
    status: sim.forced ?? allowanceState(one, now),
    remaining: Math.floor(remainingOf(one)),
    activated_at: moment(one.activated_at),
    expired_at: moment(one.expires_at),
    finished_at: moment(one.finished_at),
    package: packageFacts(one.bought),
  }));
  return { status: 200, body: { pricing: airaloPricing, data } };
}

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
