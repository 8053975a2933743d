import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf, formatCost } from "../../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import type { Client } from "./client.ts";
import { bodyOf, faultWords, unreachable } from "./reply.ts";
import { costIn, TextOrNumber } from "./values.ts";

const Amount = Type.Object({ amount: TextOrNumber, currency: Type.String({ pattern: "^[A-Za-z]{3}$" }) });
const Held = Type.Object({ availableBalance: Amount });
/** An object in the schema; a list, empty without an account, in the text. */
const balances = Compile(Type.Object({ data: Type.Object({ balances: Type.Union([Held, Type.Array(Held)]) }) }));

const balanceCall = { method: "GET", path: "/balance" } as const;
const NO_BALANCE = "Airalo shows no balance of this account.";
/** How far apart clocks may be (ms) before tokens would be used too long, and orders looked for on other days. */
const MOST_APART_MS = 60_000;

/** What the account holds. Throws `supplier_unreachable`. */
export async function readBalance(client: Client): Promise<Balance> {
  const balance = balanceIn(bodyOf(await client.ask(balanceCall)));
  if (balance === null) throw unreachable(NO_BALANCE);
  return balance;
}

/** Amounts are read as whole units. An account on credit may be below zero. */
function balanceIn(body: unknown): Balance | null {
  const [held] = balances.Check(body) ? [body.data.balances].flat() : [];
  if (held === undefined) return null;
  const { amount, currency } = held.availableBalance;
  const [, minus, digits = ""] = /^(-?)(.*)$/.exec(String(amount).trim()) ?? [];
  const cost = costIn(digits);
  return cost === null ? null : { currency: currency.toUpperCase(), balance: costOf(minus ? -cost : cost) };
}

/** Proves the credential by a new token, reads the balance, and compares the clocks. Never throws for an answer. */
export async function checkAccount(client: Client, now: () => number): Promise<Check[]> {
  const failed = await client.renew();
  if (failed !== null) return [{ name: "credential", ok: false, detail: faultWords(failed) }];
  const credential: Check = { name: "credential", ok: true, detail: "Airalo gave a token for it." };
  const reply = await client.ask(balanceCall);
  if (reply.kind !== "done") return [credential, { name: "balance", ok: false, detail: faultWords(reply) }];
  const held = balanceIn(reply.body);
  const detail = held === null ? NO_BALANCE : `${formatCost(held.balance)} ${held.currency} are available.`;
  return [credential, { name: "balance", ok: held !== null, detail }, ...clockCheck(reply.date, now())];
}

/** Nothing where the answer does not show the provider's clock. */
function clockCheck(date: string | undefined, now: number): Check[] {
  const apart = Date.parse(date ?? "") - now;
  if (Number.isNaN(apart)) return [];
  const seconds = Math.round(Math.abs(apart) / 1_000);
  const words = `Airalo's clock is ${seconds} s ${apart > 0 ? "ahead" : "behind"}.`;
  return [
    { name: "clock", ok: Math.abs(apart) <= MOST_APART_MS, detail: seconds === 0 ? "Both clocks agree." : words },
  ];
}
