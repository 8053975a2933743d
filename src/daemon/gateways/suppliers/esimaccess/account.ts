import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf } from "../../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import { balanceCheck, clockCheck } from "../account-checks.ts";
import { mapped, type Reply, reasonOf, shaped, usable } from "../reply.ts";
import { maybe } from "../values.ts";
import { type Client, NAME } from "./client.ts";
import { refusalOf, WRONG_TIME } from "./codes.ts";

const Amount = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const account = Compile(Type.Object({ balance: Amount, ...maybe(Type.String(), "currencyCode") }));

/** How far (ms) the clocks may be apart. The provider's own tolerance is not stated. */
const APART_MS = 30_000;

/** What the account holds. Throws `supplier_unreachable`. */
export async function readBalance(client: Client): Promise<Balance> {
  return usable(NAME, balanceIn(await client("/balance/query", {})));
}

/** Proves credential, balance and clock with one signed call. */
export async function checkAccount(client: Client, now: () => number): Promise<Check[]> {
  const reply = await client("/balance/query", {});
  const held = balanceIn(reply);
  const refusal = refusalOf((reply.kind === "unclear" && reply.code) || "");
  const why = held.kind === "done" ? "" : `Not proved: ${reasonOf(held)}.`;
  const fault = refusal === null ? why : `${refusal.message} (${refusal.code})`;
  const ok = reply.kind === "done";
  const clocks = { at: "at" in reply ? reply.at : null, now: now(), mostMs: APART_MS };
  const words = (s: number, isAhead: boolean) =>
    `Its clock is ${s} s ${isAhead ? "ahead of" : "behind"} this machine's.`;
  const unseen: Check = { name: "clock", ok: false, detail: fault };
  const clock = clocks.at === null ? unseen : clockCheck(clocks, words);
  const isRefused = refusal?.code === WRONG_TIME;
  return [
    { name: "credential", ok, detail: ok ? "It answered a signed request." : fault },
    held.kind === "done" ? balanceCheck(held.value) : { name: "balance", ok: false, detail: fault },
    isRefused ? { ...clock, ok: false, detail: `It refuses this machine's time. ${clock.detail}` } : clock,
  ];
}

function balanceIn(reply: Reply): Reply<Balance> {
  return mapped(shaped(reply, account), ({ balance, currencyCode }) => {
    return { currency: currencyCode || "USD", balance: costOf(balance) };
  });
}
