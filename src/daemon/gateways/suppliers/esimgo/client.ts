import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { Balance } from "../../../../core/supply/provider.ts";
import { balanceIn } from "../account-checks.ts";
import { type Call, type ProviderCalls, waitOf } from "../calls.ts";
import { boundedWords, type Reply, replyOf, shaped, unclear, type Whole } from "../reply.ts";
import { Currency, TextOrNumber } from "../values.ts";

/** Its name, for people. */
export const NAME = "eSIM Go";

/** A call with the account's key; `cost`: what the provider counts it as, 1 where it is left out. */
export type Client = <T>(
  call: Pick<Call, "method" | "path"> & { body?: object; cost?: number },
  shape: { Check(value: unknown): value is T },
) => Promise<Reply<T>>;

const account = { bucket: "account", most: 10, windowMs: 1_000 };
/** Statuses after which nothing was done: three that the pages name; 401 and 404 reach nothing that buys. */
const definite: Readonly<Record<number, "plan" | "account">> = {
  ...{ 400: "plan", 401: "account", 403: "account", 404: "account", 410: "plan" },
};
const refusal = Compile(Type.Object({ message: Type.String() }));
// The body has the API key and people in clear: only these fields are looked at, and it goes no further.
const organisation = Compile(Type.Object({ currency: Currency, balance: TextOrNumber }));

/** Makes a client whose calls are sent this way. The key goes out in a header only. */
export function createClient(send: ProviderCalls["send"], secret: Secret): Client {
  return async ({ method, path, body, cost = 1 }, shape) => {
    const headers = { "x-api-key": secret.reveal(), ...(body && { "content-type": "application/json" }) };
    const content = body && { body: JSON.stringify(body) };
    const answer = await send({ method, path, headers, ...content, limits: [{ limit: account, cost }] });
    const reply = replyOf(answer, (whole) => read(whole, secret));
    return shaped(reply, shape);
  };
}

/** What the account holds; it may be below zero. */
export async function accountBalance(client: Client): Promise<Reply<Balance>> {
  const reply = await client({ method: "GET", path: "/organisation" }, organisation);
  return balanceIn(reply, ({ balance: amount, currency }) => ({ amount, currency }));
}

function read({ status, headers, body, at }: Whole, secret: Secret): Reply {
  if (status >= 200 && status < 300) return { kind: "done", value: body, at };
  const said = refusal.Check(body) ? boundedWords(body.message.replaceAll(secret.reveal(), "[redacted]")) : null;
  const message = said === null ? String(status) : `${status}, ${said}`;
  const because = definite[status];
  if (said !== null && because !== undefined) return { kind: "refused", code: String(status), message, because };
  // 503: it is still worked on.
  return unclear(message, { waitMs: waitOf(headers) });
}
