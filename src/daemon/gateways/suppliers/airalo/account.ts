import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import { balanceCheck, balanceOf, clockCheck } from "../account-checks.ts";
import { faultWords, type Reply, shaped, unclear, usable } from "../reply.ts";
import { Currency, TextOrNumber } from "../values.ts";
import { type Client, NAME } from "./client.ts";

const Held = Type.Object({ availableBalance: Type.Object({ amount: TextOrNumber, currency: Currency }) });
/** An object in the schema; a list, empty without an account, in the text. */
const balances = Compile(Type.Object({ data: Type.Object({ balances: Type.Union([Held, Type.Array(Held)]) }) }));

const balanceCall = { method: "GET", path: "/balance" } as const;
/** How far apart clocks may be (ms) before tokens would be used too long, and orders looked for on other days. */
const MOST_APART_MS = 60_000;

/** What the account holds. Throws `supplier_unreachable`. */
export async function readBalance(client: Client): Promise<Balance> {
  return usable(NAME, balanceIn(await client.ask(balanceCall)));
}

function balanceIn(reply: Reply): Reply<Balance> {
  const held = shaped(reply, balances);
  if (held.kind !== "done") return held;
  const [first] = [held.value.data.balances].flat();
  const balance = first ? balanceOf(first.availableBalance.amount, first.availableBalance.currency) : null;
  return balance === null ? unclear("it shows no balance of this account") : { ...held, value: balance };
}

/** Proves the credential by a new token, reads the balance, and compares the clocks. Never throws for an answer. */
export async function checkAccount(client: Client, now: () => number): Promise<Check[]> {
  const token = await client.renew();
  if (token.kind !== "done") return [{ name: "credential", ok: false, detail: faultWords(NAME, token) }];
  const reply = await client.ask(balanceCall);
  const held = balanceIn(reply);
  const ok = held.kind === "done";
  const detail = ok ? `${balanceCheck(held.value).detail} are available.` : faultWords(NAME, held);
  // Where the answer does not show the provider's clock, nothing is said of it.
  const proved = { name: "credential", ok: true, detail: "Airalo gave a token for it." } as const;
  const checks: Check[] = [proved, { name: "balance", ok, detail }];
  if (reply.kind !== "done" || reply.at === null) return checks;
  const words = (seconds: number, isAhead: boolean) =>
    `Airalo's clock is ${seconds} s ${isAhead ? "ahead" : "behind"}.`;
  return [...checks, clockCheck({ at: reply.at, now: now(), mostMs: MOST_APART_MS }, words)];
}
