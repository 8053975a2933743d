import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Balance } from "../../../../core/supply/provider.ts";
import { balanceIn } from "../account-checks.ts";
import type { Reply } from "../reply.ts";
import { Currency, TextOrNumber } from "../values.ts";
import type { Client } from "./client.ts";

// The body has the API key and people in clear: only these fields are looked at, and it goes no further.
const organisation = Compile(Type.Object({ currency: Currency, balance: TextOrNumber }));

/** What the account holds; it may be below zero. */
export async function accountBalance(ask: Client["ask"]): Promise<Reply<Balance>> {
  const reply = await ask({ method: "GET", path: "/organisation" }, organisation);
  return balanceIn(reply, ({ balance: amount, currency }) => ({ amount, currency }));
}
