import { createLines } from "../../kernel/lines.ts";
import type { Owner } from "../../kernel/owner.ts";

/** What one batch has taken so far. */
export interface Taken {
  production: number;
  sandbox: number;
}

/** Writes that wait for a transaction. */
export interface WriteQueue<W> {
  push(write: W, owner: Owner | null): void;
  size(): number;
  /** Takes the write that a batch goes on with; null: the batch is to be committed. Counts it in `taken`. */
  next(taken: Taken, elapsedMs: number): W | null;
}

/** Most writes of a batch: all wait for its end. */
const MOST = 128;
/** The same for the sandbox: production that comes meanwhile waits for no more than these. */
const MOST_SANDBOX = 16;
/** Beside production. Not 0: the sandbox must go on under any load. */
const MOST_SANDBOX_BESIDE = 4;
/** How long a batch goes on taking writes, and writes of the sandbox (ms): some write hundreds of rows. */
const LONGEST_MS = 50;
const LONGEST_SANDBOX_MS = 10;

/**
 * A queue in which production goes before the sandbox, and within each the owners take turns, each in the order of its
 * own writes. Writes without an owner (workers' claims, the operator) are one owner of production. A batch takes no
 * more writes after `longestMs`.
 */
export function createWriteQueue<W>(longestMs = LONGEST_MS): WriteQueue<W> {
  const [production, sandbox] = [createLines<W>(), createLines<W>()];

  function next(taken: Taken, elapsedMs: number): W | null {
    const reserved = sandbox.size() > 0 ? MOST_SANDBOX_BESIDE : 0;
    const count = taken.production + taken.sandbox;
    if (count >= MOST) return null;
    if (count > 0 && elapsedMs >= longestMs) {
      // Beside production that never pauses one write of a batch is still the sandbox's.
      if (sandbox.size() === 0 || taken.sandbox > 0) return null;
      taken.sandbox += 1;
      return sandbox.take();
    }
    if (production.size() > 0 && taken.production < MOST - reserved) {
      taken.production += 1;
      return production.take();
    }
    const most = taken.production > 0 ? MOST_SANDBOX_BESIDE : MOST_SANDBOX;
    const late = taken.sandbox > 0 && elapsedMs >= LONGEST_SANDBOX_MS;
    if (sandbox.size() === 0 || taken.sandbox >= most || late) return null;
    taken.sandbox += 1;
    return sandbox.take();
  }

  return {
    push: (write, owner) =>
      (owner?.environment === "sandbox" ? sandbox : production).push(owner?.partnerId ?? "", write),
    size: () => production.size() + sandbox.size(),
    next,
  };
}
