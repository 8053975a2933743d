import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { Call, ProviderCalls } from "../calls.ts";
import { type Reply, replyOf, shaped, unclear, type Whole } from "../reply.ts";

/** Its name, for people. */
export const NAME = "eSIM Go";

/** Sends once; `cost`: what the provider counts it as, 1 where it is left out. */
type Ask = <T>(
  call: Pick<Call, "method" | "path"> & { body?: unknown; cost?: number },
  shape: { Check(value: unknown): value is T },
) => Promise<Reply<T>>;

/** Calls of eSIM Go with the account's key; `askPeople` waits for limits. */
export interface Client {
  ask: Ask;
  askPeople: Ask;
}

const account = { bucket: "account", most: 10, windowMs: 1_000 };
/** Statuses after which nothing was done: three that the pages name; 401 and 404 reach nothing that buys. */
const definite: Readonly<Record<number, "plan" | "account">> = {
  ...{ 400: "plan", 401: "account", 403: "account", 404: "account", 410: "plan" },
};
const refusal = Compile(Type.Object({ message: Type.String() }));

/** Makes the client. The key goes out in a header only. */
export function createEsimgoClient({ send, sendInTurn }: ProviderCalls, secret: Secret): Client {
  const by =
    (sent: ProviderCalls["send"]): Ask =>
    async ({ method, path, body, cost = 1 }, shape) => {
      const key = { "x-api-key": secret.reveal() };
      const headers = body === undefined ? key : { ...key, "content-type": "application/json" };
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await sent({ method, path, headers, ...content, limits: [{ limit: account, cost }] });
      return shaped(
        replyOf(answer, (whole) => read(whole, secret)),
        shape,
      );
    };
  return { ask: by(send), askPeople: by(sendInTurn) };
}

function read({ status, headers, body, at }: Whole, secret: Secret): Reply {
  if (status >= 200 && status < 300) return { kind: "done", value: body, at };
  const said = refusal.Check(body) ? body.message.replaceAll(secret.reveal(), "[redacted]").slice(0, 300) : null;
  const message = said === null ? String(status) : `${status}, ${said}`;
  const because = definite[status];
  if (said !== null && because !== undefined) return { kind: "refused", code: String(status), message, because };
  // 503: it is still worked on.
  const seconds = Number(headers["retry-after"]);
  return unclear(message, { waitMs: seconds > 0 && seconds <= 600 ? Math.ceil(seconds * 1_000) : null });
}
