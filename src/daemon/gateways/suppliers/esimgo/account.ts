import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import { balanceCheck, balanceOf, clockCheck } from "../account-checks.ts";
import { type Reply, reasonOf, unclear } from "../reply.ts";
import { Currency, TextOrNumber } from "../values.ts";
import type { Client } from "./client.ts";

// The body has the API key and people in clear: only these fields are looked at, and it goes no further.
const organisation = Compile(Type.Object({ currency: Currency, balance: TextOrNumber }));

/** Clocks may be so far apart (ms), and a second more, as the provider's is known to the second. */
const APART_MS = 31_000;

/** What the account holds; it may be below zero. */
export async function accountBalance(ask: Client["ask"]): Promise<Reply<Balance>> {
  const reply = await ask({ method: "GET", path: "/organisation" }, organisation);
  if (reply.kind !== "done") return reply;
  const balance = balanceOf(reply.value.balance, reply.value.currency);
  return balance === null ? unclear("a balance that is no decimal") : { ...reply, value: balance };
}

/** Proves the key, the balance, and how far the clocks are apart: orders are looked up by when they were made. */
export async function checkAccount({ askPeople }: Client, now: () => number): Promise<Check[]> {
  const reply = await accountBalance(askPeople);
  if (reply.kind !== "done") return [{ name: "credential", ok: false, detail: reasonOf(reply) }];
  const clocks = { at: reply.at, now: now(), mostMs: APART_MS };
  return [
    { name: "credential", ok: true, detail: "the key is accepted" },
    balanceCheck(reply.value),
    clockCheck(clocks, (seconds) => `${seconds} s apart, to the second`),
  ];
}
