import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf, formatCost } from "../../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import { type Client, PEOPLE_WAIT_MS, type Reply, replyWords, Text, unreachable } from "./client.ts";
import { refusalOf, WRONG_TIME } from "./codes.ts";

const account = Compile(Type.Object({ balance: Type.Integer(), currencyCode: Text }));

/** How far (ms) the clocks may be apart. The provider's own tolerance is not stated. */
const APART_MS = 30_000;

/** What the account holds. Throws `supplier_unreachable`. */
export async function readBalance(client: Client): Promise<Balance> {
  const reply = await client("/balance/query", {}, PEOPLE_WAIT_MS);
  const held = balanceIn(reply);
  if (held === null) throw unreachable(reply);
  return held;
}

/** Proves credential, balance and clock with one signed call. */
export async function checkAccount(client: Client, now: () => number): Promise<Check[]> {
  const reply = await client("/balance/query", {}, PEOPLE_WAIT_MS);
  const held = balanceIn(reply);
  const refusal = reply.kind === "code" ? refusalOf(reply.code) : null;
  const fault = refusal === null ? `Not proved: ${replyWords(reply)}.` : `${refusal.message} (${refusal.code})`;
  const ok = reply.kind === "done";
  return [
    { name: "credential", ok, detail: ok ? "It answered a signed request." : fault },
    held === null
      ? { name: "balance", ok: false, detail: fault }
      : { name: "balance", ok: held.balance > 0, detail: `${formatCost(held.balance)} ${held.currency}` },
    clockCheck(reply, now()),
  ];
}

function balanceIn(reply: Reply): Balance | null {
  if (reply.kind !== "done" || !account.Check(reply.obj)) return null;
  const { balance, currencyCode } = reply.obj;
  return Number.isSafeInteger(balance) ? { currency: currencyCode || "USD", balance: costOf(balance) } : null;
}

function clockCheck(reply: Reply, now: number): Check {
  const date = "date" in reply ? reply.date : null;
  if (date === null) return { name: "clock", ok: false, detail: "Its answer shows no time." };
  const apart = date - now;
  const isRefused = reply.kind === "code" && reply.code === WRONG_TIME;
  const seconds = Math.round(Math.abs(apart) / 1_000);
  const words = `Its clock is ${seconds} s ${apart < 0 ? "behind" : "ahead of"} this machine's`;
  const detail = isRefused ? `It refuses this machine's time. ${words}.` : `${words}.`;
  return { name: "clock", ok: Math.abs(apart) <= APART_MS && !isRefused, detail };
}
