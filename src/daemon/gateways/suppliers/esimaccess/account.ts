import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf } from "../../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../../core/supply/provider.ts";
import { accountChecks } from "../account-checks.ts";
import { mapped, type Reply, shaped } from "../reply.ts";
import { maybe } from "../values.ts";
import type { Client } from "./client.ts";
import { refusalOf } from "./codes.ts";

const Amount = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const account = Compile(Type.Object({ balance: Amount, ...maybe(Type.String(), "currencyCode") }));

/** What the account holds. */
export async function accountBalance(client: Client): Promise<Reply<Balance>> {
  return balanceIn(await client("/balance/query", {}));
}

/** Proves credential, balance and clock with one signed call. */
export async function checkAccount(client: Client, now: number): Promise<Check[]> {
  const reply = await client("/balance/query", {});
  const refusal = reply.kind === "unclear" ? refusalOf(reply.code ?? "") : null;
  const worded = refusal === null ? reply : { ...reply, reason: `${refusal.message} (${refusal.code})` };
  return accountChecks(worded, balanceIn(reply), now);
}

function balanceIn(reply: Reply): Reply<Balance> {
  return mapped(shaped(reply, account), ({ balance, currencyCode }) => {
    return { currency: currencyCode || "USD", balance: costOf(balance) };
  });
}
