import pg from "pg";
import { isLoopbackHost } from "../../kernel/http-url.ts";
import { StoreError } from "../problems.ts";
import { serversOf } from "./servers.ts";

/** A PostgreSQL database, and whether it may be reached beyond this machine without TLS. */
export interface PostgresAddress {
  url: string;
  /** Left out: no. */
  insecure?: boolean | undefined;
}

/**
 * Throws `StoreError` for a server beyond this machine whose connections would not be encrypted, or whose certificate
 * would not be verified. What the driver makes of the address decides, its environment (`PGSSLMODE`) included. Unix
 * sockets and loopback need no TLS.
 */
export function refuseCleartext({ url, insecure = false }: PostgresAddress): void {
  if (insecure) return;
  for (const server of serversOf(url).urls) refuseCleartextTo(server);
}

function refuseCleartextTo(url: string): void {
  const { host, ssl } = driverView(url);
  if (host.startsWith("/") || isLoopbackHost(host)) return;
  const hint =
    "Add ?sslmode=verify-full to the address (and sslrootcert=FILE for a private authority), " +
    "or --insecure to allow it.";
  if (!ssl) throw new StoreError(`The PostgreSQL database on ${host} would be reached without TLS.`, hint);
  const unverified = typeof ssl === "object" && Reflect.get(ssl, "rejectUnauthorized") === false;
  if (unverified) throw new StoreError(`The certificate of the PostgreSQL server ${host} would not be verified.`, hint);
}

/** The driver types `ssl` as a flag; it is the options of the TLS connection too. */
function driverView(url: string): { host: string; ssl: unknown } {
  try {
    // Made for its reading of the address; it connects to nothing.
    return new pg.Client({ connectionString: url });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`The PostgreSQL address cannot be used: ${reason}.`, "Correct it; see sslrootcert.", error);
  }
}
