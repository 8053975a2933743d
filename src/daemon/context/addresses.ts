import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Addresses } from "./context.ts";

/** Where a daemon is served. */
export interface ServedAt {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Left out: the bound address. */
  publicUrl?: string | undefined;
  /** Left out: `{publicUrl}/docs`. */
  docsUrl?: string | undefined;
}

/** The public address's own path, the prefix of paths in Location: "" or "/esim", never with a closing slash. */
export function pathPrefix(publicUrl: string): string {
  return withoutSlash(new URL(publicUrl).pathname);
}

/** The port to bind and the addresses that links, tokens and problems carry; known before anything listens. */
export async function servedAddresses(at: ServedAt): Promise<{ port: number; addresses: Addresses }> {
  const port = at.port === 0 ? await freePort(at.host) : at.port;
  const publicUrl = withoutSlash(at.publicUrl ?? boundUrl(at.host, port));
  return { port, addresses: { publicUrl, docsUrl: withoutSlash(at.docsUrl ?? `${publicUrl}/docs`) } };
}

function boundUrl(host: string, port: number): string {
  // A wildcard address cannot be opened; on this machine its loopback can.
  const named = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${named.includes(":") ? `[${named}]` : named}:${port}`;
}

/**
 * A port of `host` that nothing listens on now. Below the ports that systems give to outgoing connections, from 32768
 * on: one of those may be taken by any connection of this machine before it is listened on.
 */
export async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    try {
      await probe({ host, port });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") continue;
      throw error;
    }
    return port;
  }
}

/** Listens on an address for a moment. Throws Node's error where that is not possible. */
export async function probe({ host, port }: Pick<ServedAt, "host" | "port">): Promise<void> {
  const server = createServer();
  await once(server.listen(port, host), "listening");
  server.close();
  await once(server, "close");
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
