import { join } from "node:path";
import { execa } from "execa";
import type { Pace } from "./bench.ts";

const program = join(import.meta.dirname, "..", "..", "node_modules", "autocannon", "autocannon.js");

export interface Load {
  url: string;
  connections: number;
  /** How many requests in all. */
  amount: number;
  headers?: Record<string, string>;
  method?: "GET" | "POST";
  /** `[<id>]` in it or in a header becomes another id in each request. */
  body?: string;
}

/** autocannon's own answer, of which we read this. */
interface Result {
  start: string;
  finish: string;
  "2xx": number;
  non2xx: number;
  errors: number;
  /** Milliseconds. */
  latency: { p99: number };
}

const NEW_ID = "[<id>]";

function flagsOf({ headers = {}, method, body }: Omit<Load, "amount">): string[] {
  const flags = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  if (method !== undefined) flags.push("-m", method);
  if (body !== undefined) flags.push("-b", body);
  // Only where it is needed: the load puts each request together again then, a quarter of what it does in all.
  if (flags.some((flag) => flag.includes(NEW_ID))) flags.push("-I");
  return flags;
}

/** Sends requests without a pause until the result is called. */
export function steadyLoad(load: Omit<Load, "amount">): () => Promise<void> {
  const sizes = ["-c", String(load.connections), "-d", "3600"];
  const sender = execa(process.execPath, [program, "--json", ...sizes, ...flagsOf(load), load.url], { reject: false });
  return async () => {
    sender.kill("SIGKILL");
    await sender;
  };
}

/** Sends requests from a process of its own, so that the load costs the server's thread nothing. */
export async function httpLoad({ url, connections, amount, ...load }: Load): Promise<Pace> {
  const most = Math.min(connections, amount);
  // autocannon ends at a sample only: with one every 10 ms a run need not last whole seconds.
  const sizes = ["-c", String(most), "-a", String(amount), "-L", "10"];
  const { stdout } = await execa(process.execPath, [
    program,
    "--json",
    ...sizes,
    ...flagsOf({ url, connections, ...load }),
    url,
  ]);
  // The documented shape of `autocannon --json`.
  const result = JSON.parse(stdout) as Result;
  if (result["2xx"] !== amount || result.non2xx !== 0 || result.errors !== 0) {
    throw new Error(`${url}: of ${amount} requests ${result["2xx"]} were 2xx, ${result.errors} failed`);
  }
  const perSecond = amount / ((Date.parse(result.finish) - Date.parse(result.start)) / 1000);
  return { perSecond, p99Ms: result.latency.p99 };
}
