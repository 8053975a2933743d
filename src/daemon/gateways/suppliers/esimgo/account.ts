import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf, formatCost, readCost } from "../../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import type { EsimgoClient, Reply } from "./client.ts";

// The body has the API key and people in clear: only these fields are looked at, and it goes no further.
const Organisation = Type.Object({
  currency: Type.String({ pattern: "^[A-Za-z]{3}$" }),
  balance: Type.Union([Type.Number(), Type.String()]),
});
const organisation = Compile(Organisation);

/** Clocks may be so far apart (ms): orders are looked up by when they were made. */
const APART_MS = 30_000;

/** What the account holds; it may be below zero. */
export async function accountBalance(ask: EsimgoClient["ask"]): Promise<Reply<Balance>> {
  const reply = await ask({ method: "GET", path: "/organisation" }, organisation);
  if (reply.kind !== "done") return reply;
  const text = String(reply.value.balance).trim();
  const cost = readCost(text.replace(/^-/, ""));
  if (cost === null) return { kind: "unclear", reason: "a balance that is no decimal", waitMs: null };
  const balance = text.startsWith("-") ? costOf(-cost) : cost;
  return { ...reply, value: { currency: reply.value.currency.toUpperCase(), balance } };
}

/** Proves the key, the balance, and how far the clocks are apart. */
export async function checkAccount({ askPeople }: EsimgoClient, now: () => number): Promise<Check[]> {
  const reply = await accountBalance(askPeople);
  if (reply.kind !== "done") return [{ name: "credential", ok: false, detail: reply.reason }];
  const { currency, balance } = reply.value;
  // The provider's clock is known to the second.
  const apart = reply.at === null ? null : Math.max(0, Math.abs(now() - reply.at) - 1_000);
  const words = apart === null ? "the answer has no date" : `${Math.ceil(apart / 1_000)} s apart, to the second`;
  return [
    { name: "credential", ok: true, detail: "the key is accepted" },
    { name: "balance", ok: balance > 0, detail: `${formatCost(balance)} ${currency}` },
    { name: "clock", ok: apart !== null && apart <= APART_MS, detail: words },
  ];
}
