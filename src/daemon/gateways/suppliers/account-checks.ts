import { costOf, formatCost, readCost } from "../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../core/supply/provider.ts";
import { type Reply, reasonOf, unclear } from "./reply.ts";

/** What an answer shows that the account holds, in whole units; an account on credit may be below zero. */
export function balanceIn<T>(
  reply: Reply<T>,
  heldIn: (value: T) => { amount: string | number; currency: string } | undefined,
): Reply<Balance> {
  if (reply.kind !== "done") return reply;
  const { amount = "", currency = "" } = heldIn(reply.value) ?? {};
  const text = String(amount).trim();
  const cost = readCost(text.replace(/^-/, ""));
  if (cost === null) return unclear("it shows no balance of this account");
  const balance = costOf(text.startsWith("-") ? -cost : cost);
  return { ...reply, value: { currency: currency.toUpperCase(), balance } };
}

/** How far clocks may be apart (ms): signatures have a time, and orders are looked for by when they were made. */
const MOST_APART_MS = 31_000;

/** What two answers, or one, prove: that the credential is accepted, what the account holds, and how clocks differ. */
export function accountChecks(credential: Reply, held: Reply<Balance>, now: number): Check[] {
  const [at] = [held, credential].flatMap((one) => ("at" in one && one.at !== null ? one.at : []));
  const clock = at === undefined ? [] : [clockCheck(at, now)];
  if (credential.kind !== "done") return [{ name: "credential", ok: false, detail: reasonOf(credential) }, ...clock];
  return [{ name: "credential", ok: true, detail: "It is accepted." }, balanceCheck(held), ...clock];
}

function balanceCheck(held: Reply<Balance>): Check {
  if (held.kind !== "done") return { name: "balance", ok: false, detail: reasonOf(held) };
  const { balance, currency } = held.value;
  return { name: "balance", ok: balance > 0, detail: `${formatCost(balance)} ${currency}` };
}

function clockCheck(at: number, now: number): Check {
  const apart = Math.abs(at - now);
  const seconds = Math.round(apart / 1_000);
  const words = `Its clock is ${seconds} s ${at > now ? "ahead of" : "behind"} this machine's.`;
  // Its time is that of the second's beginning.
  return { name: "clock", ok: apart <= MOST_APART_MS, detail: seconds <= 1 ? "Both clocks agree." : words };
}
