import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { StoreError } from "../problems.ts";
import { textOf, unreachable } from "./faults.ts";

/** The servers that an address names: one, or the members of a cluster of which one takes writes. */
export interface Servers {
  /** An address for each, in the order given. */
  urls: string[];
  /** Only a server that takes writes will do. */
  writable: boolean;
}

/** What a server did when it was asked. */
export type ServerState =
  | { kind: "usable" }
  /** It answered, or its machine did: it cannot be used now, and connections to it fail at once. */
  | { kind: "refused"; error: unknown }
  /** Nothing came from there: what waits for it would wait without end. */
  | { kind: "silent"; error: unknown };

/** A server that sends nothing for so long (ms) while a session starts is silent. */
const SILENT_MS = 1_000;

const AUTHORITY = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/is;

/**
 * Reads `postgres://user@a:5432,b:5432/name?target_session_attrs=read-write`, which the driver does not. Several
 * servers are a cluster: the one that takes writes is used, as `read-write` asks for of a single one. Throws
 * `StoreError` for other values of `target_session_attrs`.
 */
export function serversOf(url: string): Servers {
  const [, before = "", hosts = "", after = ""] = AUTHORITY.exec(url) ?? [];
  if (before === "") return { urls: [url], writable: false };
  const { rest, wanted } = withoutTarget(after);
  const urls = hosts.split(",").map((host) => `${before}${host}${rest}`);
  if (urls.length === 1) return { urls, writable: wanted === "read-write" || wanted === "primary" };
  if (wanted === null || wanted === "read-write" || wanted === "primary") return { urls, writable: true };
  throw new StoreError(
    `The PostgreSQL address asks for target_session_attrs=${wanted}; esimctl writes.`,
    "Ask for target_session_attrs=read-write, or leave it out: of several servers the one that takes writes is used.",
  );
}

/** The rest of an address without the parameter that the driver does not know. */
function withoutTarget(rest: string): { rest: string; wanted: string | null } {
  const [, path = "", query = "", hash = ""] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(rest) ?? [];
  const parameters = query.split("&").filter((part) => part !== "");
  const target = parameters.find((part) => part.startsWith("target_session_attrs="));
  const kept = parameters.filter((part) => part !== target);
  const wanted = target === undefined ? null : decodeURIComponent(target.slice("target_session_attrs=".length));
  return { rest: `${path}${kept.length === 0 ? "" : `?${kept.join("&")}`}${hash}`, wanted };
}

/** Asks one server whether it can be used, by a session of its own. Never throws. */
export async function askServer(url: string, writable: boolean): Promise<ServerState> {
  const client = new pg.Client({ connectionString: url, application_name: "esimctl" });
  client.on("error", () => undefined);
  const asked = new AbortController();
  try {
    return await Promise.race([answerOf(client, writable), silence(client, asked.signal)]);
  } finally {
    asked.abort();
    // Whatever its state: nothing waits for a farewell of the server.
    client.connection.stream.destroy();
  }
}

async function answerOf(client: pg.Client, writable: boolean): Promise<ServerState> {
  try {
    await client.connect();
    const { rows } = await client.query("SHOW transaction_read_only");
    if (!writable || rows[0]?.transaction_read_only === "off") return { kind: "usable" };
    return { kind: "refused", error: new Error("no server takes writes") };
  } catch (error) {
    return { kind: "refused", error };
  }
}

/** Resolves once nothing has come from the server for `SILENT_MS`. */
async function silence(client: pg.Client, answered: AbortSignal): Promise<ServerState> {
  // Another one once TLS has begun.
  const read = () => ("bytesRead" in client.connection.stream ? Number(client.connection.stream.bytesRead) : 0);
  for (let before = -1; !answered.aborted && read() !== before; ) {
    before = read();
    await pause(SILENT_MS, undefined, { ref: false, signal: answered }).catch(() => undefined);
    // Where this process was held up, what has come meanwhile is still unread.
    await nextTurn();
    await nextTurn();
  }
  return { kind: "silent", error: new Error(`no answer for ${SILENT_MS / 1_000} s`) };
}

/** The first server in order that can be used. All are asked at once. Throws `StoreUnavailable`. */
export async function chooseServer(servers: Servers): Promise<string> {
  const [only] = servers.urls;
  if (servers.urls.length === 1 && !servers.writable && only !== undefined) return only;
  const states = await Promise.all(servers.urls.map((url) => askServer(url, servers.writable)));
  const chosen = servers.urls.find((_, at) => states[at]?.kind === "usable");
  if (chosen === undefined) throw unreachable(faultIn(states));
  return chosen;
}

/** The error of servers of which none can be used. */
export function faultIn(states: readonly ServerState[]): unknown {
  const errors = states.flatMap((state) => (state.kind === "usable" ? [] : [state.error]));
  return errors.length === 1 ? errors[0] : new Error(errors.map(textOf).join("; "));
}
