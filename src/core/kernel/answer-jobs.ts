import { parentPort } from "node:worker_threads";

/** A job as its thread gets it. */
export interface Asked<J> {
  id: number;
  job: J;
}

/** What the thread answers. */
export type Answered<R> = { id: number } & ({ result: R } | { error: string });

/** In the program of a thread: does each job that `jobThread` gives it. */
export function answerJobs<J, R>(work: (job: J) => R): void {
  const answer = (answered: Answered<R>) => parentPort?.postMessage(answered);
  parentPort?.on("message", ({ id, job }: Asked<J>) => {
    try {
      answer({ id, result: work(job) });
    } catch (error) {
      answer({ id, error: String(error) });
    }
  });
}
