import { join } from "node:path";
import { execa } from "execa";
import type { Pace } from "./bench.ts";
import type { Load, Sent } from "./load.ts";

const program = join(import.meta.dirname, "send-requests.ts");

const start = (load: Load) => execa(process.execPath, [program, JSON.stringify(load)], { reject: false });

/** Sends requests without a pause until the result is called, which throws where they had ended by themselves. */
export function steadyLoad(load: Omit<Load, "amount">): () => Promise<void> {
  const sender = start(load);
  return async () => {
    sender.kill("SIGKILL");
    const { signal, stderr } = await sender;
    if (signal !== "SIGKILL") throw new Error(`${load.url}: ${stderr}`);
  };
}

/**
 * Sends requests from a process of its own, so that the load costs the server's thread nothing. Throws where a
 * response is not 2xx.
 */
export async function httpLoad(load: Load & { amount: number }): Promise<Pace> {
  const { exitCode, stdout, stderr } = await start(load);
  if (exitCode !== 0) throw new Error(`${load.url}: ${stderr}`);
  // It prints this.
  const { seconds, ok, others, p99Ms } = JSON.parse(stdout) as Sent;
  if (ok !== load.amount) throw new Error(`${load.url}: of ${load.amount} requests ${ok} were 2xx, ${others} failed`);
  return { perSecond: load.amount / seconds, p99Ms };
}
