import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import type { Method } from "./api.ts";

/** Why a request got no response. */
export interface NetworkFault {
  /** The system's or the HTTP library's name of it. */
  reason: string;
  /** `never`: the request cannot have reached the server; `maybe`: it may have been acted on. */
  arrived: "never" | "maybe";
  /** A retry would fail the same way: a wrong name, a certificate. */
  lasting: boolean;
  what: string;
  hint: string;
  cause: unknown;
}

type Described = Pick<NetworkFault, "arrived" | "lasting" | "what" | "hint">;

const CHECK = "Check the address, the network, and that the server runs.";
const certificate = (what: string): Described => ({
  arrived: "never",
  lasting: true,
  what,
  hint: "Check the address; for a certificate authority of your own set NODE_EXTRA_CA_CERTS to its file.",
});
const unreachable = (what: string, hint = CHECK): Described => ({ arrived: "never", lasting: false, what, hint });
const cut = (what: string): Described => ({ arrived: "maybe", lasting: false, what, hint: CHECK });

const known: Readonly<Record<string, Described>> = {
  ENOTFOUND: { ...unreachable("there is no such name", "Check the address."), lasting: true },
  EAI_AGAIN: unreachable("its name cannot be looked up just now"),
  ECONNREFUSED: unreachable("nothing listens there"),
  EHOSTUNREACH: unreachable("no way leads there"),
  ENETUNREACH: unreachable("no way leads there"),
  UND_ERR_CONNECT_TIMEOUT: unreachable("it does not answer"),
  ECONNRESET: cut("the connection was cut"),
  EPIPE: cut("the connection was cut"),
  ETIMEDOUT: cut("it does not answer"),
  UND_ERR_SOCKET: cut("the connection was cut"),
  UND_ERR_HEADERS_TIMEOUT: cut("it does not answer"),
  UND_ERR_BODY_TIMEOUT: cut("its answer does not end"),
  TimeoutError: cut("it does not answer"),
  CERT_HAS_EXPIRED: certificate("its certificate has expired"),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate("its certificate is for another name"),
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate("its certificate is signed by itself"),
  SELF_SIGNED_CERT_IN_CHAIN: certificate("its certificate comes from an unknown authority"),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate("its certificate comes from an unknown authority"),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate("its certificate comes from an unknown authority"),
  ERR_SSL_WRONG_VERSION_NUMBER: { ...unreachable("it does not speak https", "Try http:// instead."), lasting: true },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: { ...unreachable("it does not speak https", "Try http:// instead."), lasting: true },
};

/** What `fetch` threw, as a fault of the network; null when it is something else. */
export function asNetworkFault(error: unknown): NetworkFault | null {
  if (!(error instanceof Error)) return null;
  // fetch wraps what happened below it as the cause of a TypeError.
  const inner = error.cause instanceof Error ? error.cause : error;
  const reason = "code" in inner && typeof inner.code === "string" ? inner.code : inner.name;
  const described = known[reason] ?? (error.message === "fetch failed" ? cut(inner.message || reason) : undefined);
  return described === undefined ? null : { ...described, reason, cause: error };
}

/** The fault in words. `key`: the Idempotency-Key that the request carried. */
export function networkFailure(
  fault: NetworkFault,
  { url, key, repeats }: { url: string; key: string | undefined; repeats: Repeats },
): CliError {
  const { host } = new URL(url);
  const code = fault.arrived === "never" ? "server_unreachable" : "connection_lost";
  if (fault.arrived === "never" || repeats === "reads" || repeats === "harmless") {
    const again = repeats === "harmless" ? " Then run the same command again: nothing is done twice." : "";
    const what = `${host} cannot be reached: ${fault.what}.`;
    return new CliError(code, what, `${fault.hint}${again}`, exitCodes.failed, fault.cause);
  }
  const hint =
    key === undefined
      ? "Look whether it was done before you repeat it."
      : `Repeat it with --idempotency-key ${key}: nothing is done twice.`;
  const what = `No answer came from ${host} (${fault.what}): whether it was done is not known.`;
  return new CliError(code, what, hint, exitCodes.failed, fault.cause);
}

/**
 * What doing a request twice would do. `reads`: nothing. `keyed`: nothing, by its Idempotency-Key. `harmless`: nothing,
 * by the contract. `unsafe`: something.
 */
export type Repeats = "reads" | "keyed" | "harmless" | "unsafe";

/**
 * Writes that the contract makes harmless to repeat. Passports that are in the pool already are skipped; a bulk order
 * is known by its external_order_id; an activation that is open already is refused as a duplicate, or in bulk answered
 * again; a reschedule to the date that it has by now succeeds again. The outcome is that of the last attempt: what a
 * lost answer had imported counts as a duplicate.
 */
const harmless: readonly string[] = [
  "/api/v1/kyc/passports",
  "/api/v1/orders/bulk",
  "/api/v1/activations",
  "/api/v1/activations/bulk",
  "/api/v1/activations/bulk/reschedule",
];

/** Whether, and why, a request may be sent again when no answer came. */
export function repeatsOf(method: Method, path: string, headers: Readonly<Record<string, string>>): Repeats {
  if (method === "GET") return "reads";
  if (headers["idempotency-key"] !== undefined) return "keyed";
  return method === "POST" && harmless.includes(path) ? "harmless" : "unsafe";
}
