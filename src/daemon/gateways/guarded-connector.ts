import { buildConnector } from "undici";
import { addressOfHost, isPublicAddress, isWebhookPort } from "../../core/webhooks/address.ts";
import { lookupOf, type Resolve } from "./resolve.ts";

/** An address that nothing may be sent to. */
class RefusedAddress extends Error {
  constructor(address: string) {
    super(`the address ${address} is private, loopback or link-local`);
    this.name = "RefusedAddress";
  }
}

/** The same connector, for ports that events may be sent to: an endpoint may be older than this rule. */
export function portGuarded(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    if (isWebhookPort(options.port)) return connect(options, callback);
    // Callers expect the answer after the call.
    queueMicrotask(() => callback(new Error(`the port ${options.port} is one that browsers block`), null));
  };
}

/**
 * Opens connections to public addresses only. What a name resolved to is filtered, and the connection is made to one of
 * those very addresses, so that a name cannot mean one thing when checked and another when connected to. The address at
 * the other end is looked at once more.
 */
export function guardedConnector(resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const lookup = lookupOf(resolve, (found) => {
    const chosen = found.filter(({ address }) => isPublicAddress(address));
    if (chosen.length === 0) throw new RefusedAddress(found[0]?.address ?? "none");
    return chosen;
  });
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup });
  return (options, callback) => {
    // A host that is an address is never looked up.
    const spelled = addressOfHost(options.hostname);
    if (spelled !== null && !isPublicAddress(spelled)) return callback(new RefusedAddress(spelled), null);
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const reached = socket.remoteAddress;
      if (reached !== undefined && isPublicAddress(reached)) return callback(null, socket);
      socket.destroy();
      callback(new RefusedAddress(reached ?? "unknown"), null);
    });
  };
}

/** The same without a guard, for `--allow-private-webhooks`. */
export function openConnector(resolve: Resolve, timeoutMs: number): buildConnector.connector {
  return buildConnector({ timeout: timeoutMs, allowH2: false, lookup: lookupOf(resolve, (found) => found) });
}
