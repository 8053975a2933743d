import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { Call, ProviderCalls } from "../calls.ts";
import { readPages } from "../pages.ts";
import { mapped, type Reply, replyOf, shaped, unclear, type Whole } from "../reply.ts";

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
const definite = { 400: "plan", 401: "account", 403: "account", 404: "account", 410: "plan" } as const;
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
  const [, because] = Object.entries(definite).find(([code]) => code === String(status)) ?? [];
  if (said !== null && because !== undefined) return { kind: "refused", code: String(status), message, because };
  // 503: it is still worked on.
  const seconds = Number(headers["retry-after"]);
  return unclear(message, { waitMs: seconds > 0 && seconds <= 600 ? Math.ceil(seconds * 1_000) : null });
}

/** Every row of a list, each once. A page may be shorter than asked for: only one with nothing new is the last. */
export async function everyRow<Row>(
  read: (page: number) => Promise<Reply<Row[]>>,
  nameOf: (row: Row) => string,
  most: number,
): Promise<Reply<Row[]>> {
  const named = (rows: readonly Row[]) => new Map(rows.map((row) => [nameOf(row), row]));
  const isLast = (page: readonly Row[], before: readonly Row[]) =>
    named([...before, ...page]).size === named(before).size;
  return mapped(await readPages({ most, read, isLast }), (rows) => [...named(rows).values()]);
}
