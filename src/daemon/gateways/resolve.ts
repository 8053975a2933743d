import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";

/** Every address of a name. Throws when it has none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const TIMEOUT_MS = 2_000;
const ATTEMPTS = 2;

/**
 * Asks the name servers directly: the operating system's own look-up takes one of four threads for as long as a dead
 * name server lets it wait, and so would delay all other requests. It is asked for what name servers do not know (hosts
 * file, local names), and never after a timeout.
 */
export function createResolve(): Resolve {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: ATTEMPTS });
  return async (hostname) => {
    if (!hostname.includes(".") || /\.(localhost|local)\.?$/i.test(hostname)) return bySystem(hostname);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [...addresses(four, 4), ...addresses(six, 6)];
    if (found.length > 0) return found;
    if (four.status === "rejected" && codeOf(four.reason) === "ETIMEOUT") throw four.reason;
    return bySystem(hostname);
  };
}

function bySystem(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true });
}

function addresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}

/** As `net.connect` wants it: the addresses of `resolve` that pass `choose`, which may throw. */
export function lookupOf(resolve: Resolve, choose: (found: LookupAddress[]) => LookupAddress[]): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    resolve(hostname)
      .then(choose)
      .then(
        (chosen) => answer(chosen, options.all === true, callback),
        (error: NodeJS.ErrnoException) => callback(error, "", 0),
      );
  };
}

function answer(chosen: LookupAddress[], all: boolean, callback: Parameters<LookupFunction>[2]): void {
  const [one] = chosen;
  if (all) callback(null, chosen);
  else callback(null, one?.address ?? "", one?.family ?? 0);
}
