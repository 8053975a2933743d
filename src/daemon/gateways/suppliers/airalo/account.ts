import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf, formatCost } from "../../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import type { Buying } from "./purchase.ts";
import { bodyOf, faultWords, unreachable } from "./reply.ts";
import { costIn, TextOrNumber } from "./values.ts";

const Held = Type.Object({
  availableBalance: Type.Object({ amount: TextOrNumber, currency: Type.String({ pattern: "^[A-Za-z]{3}$" }) }),
});
const balances = Compile(Type.Object({ data: Type.Object({ balances: Type.Union([Held, Type.Array(Held)]) }) }));

const balanceCall = { method: "GET", path: "/balance" } as const;

/** How far apart clocks may be (ms) before orders would be looked for on other days, and tokens used too long. */
const MOST_APART_MS = 60_000;

/** What the account holds. Throws `supplier_unreachable`. */
export async function readBalance({ client }: Pick<Buying, "client">): Promise<Balance> {
  const balance = balanceIn(bodyOf(await client.ask(balanceCall)));
  if (balance === null) throw unreachable("Airalo shows no balance of this account.");
  return balance;
}

/** An object in the schema; a list, empty without an account, in the text. Amounts are read as whole units. */
function balanceIn(body: unknown): Balance | null {
  if (!balances.Check(body)) return null;
  const [held] = [body.data.balances].flat();
  return held === undefined ? null : balanceOf(held);
}

function balanceOf({ availableBalance: { amount, currency } }: Static<typeof Held>): Balance | null {
  // An account on credit may be below zero.
  const text = String(amount).trim();
  const below = text.startsWith("-");
  const cost = costIn(below ? text.slice(1) : text);
  return cost === null ? null : { currency: currency.toUpperCase(), balance: costOf(below ? -cost : cost) };
}

/** Proves the credential by a new token, reads the balance, and compares the clocks. Never throws for an answer. */
export async function checkAccount({ client, now }: Buying): Promise<Check[]> {
  const failed = await client.renew();
  if (failed !== null) return [{ name: "credential", ok: false, detail: faultWords(failed) }];
  const credential: Check = { name: "credential", ok: true, detail: "Airalo gave a token for it." };
  const reply = await client.ask(balanceCall);
  if (reply.kind !== "done") {
    return [credential, { name: "balance", ok: false, detail: faultWords(reply) }];
  }
  const balance = balanceIn(reply.body);
  const detail =
    balance === null
      ? "Airalo shows no balance of this account."
      : `${formatCost(balance.balance)} ${balance.currency} are available.`;
  return [credential, { name: "balance", ok: balance !== null, detail }, ...clockCheck(reply.date, now())];
}

/** Nothing where the answer does not show the provider's clock. */
function clockCheck(date: string | undefined, now: number): Check[] {
  const apart = Date.parse(date ?? "") - now;
  if (Number.isNaN(apart)) return [];
  const seconds = Math.round(Math.abs(apart) / 1_000);
  const detail =
    seconds === 0 ? "Both clocks agree." : `Airalo's clock is ${seconds} s ${apart > 0 ? "ahead" : "behind"}.`;
  return [{ name: "clock", ok: Math.abs(apart) <= MOST_APART_MS, detail }];
}
