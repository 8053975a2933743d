import { Worker } from "node:worker_threads";
import type { Answered, Asked } from "./answer-jobs.ts";
import { threadFile } from "./thread-file.ts";

/** A thread that does jobs in the order in which they are given. */
export interface JobThread<J, R> {
  /** Does a job. Throws what the thread says that was wrong, or that it ended. */
  run(job: J): Promise<R>;
  /** Jobs that are not done yet. */
  waiting(): number;
}

interface Started<R> {
  worker: Worker;
  jobs: Map<number, PromiseWithResolvers<R>>;
}

/**
 * The thread NAME-thread beside the file that starts it (`import.meta.url`), which answers by `answerJobs` with these
 * types. It is started with the first job, and again after it ended; without jobs it does not keep the process running.
 */
export function jobThread<J, R>(starter: string, name: string): JobThread<J, R> {
  let thread: Started<R> | null = null;
  let given = 0;

  function start(): Started<R> {
    // The flags of the process are not its own: one says that a program was given as text.
    const worker = new Worker(threadFile(starter, name), { execArgv: [] });
    const jobs: Started<R>["jobs"] = new Map();
    const started: Started<R> = { worker, jobs };
    const end = (error: Error) => {
      if (thread === started) thread = null;
      for (const { reject } of jobs.values()) reject(error);
      jobs.clear();
    };
    worker.on("message", ({ id, ...answer }: Answered<R>) => {
      const asked = jobs.get(id);
      jobs.delete(id);
      if (jobs.size === 0) worker.unref();
      if ("result" in answer) asked?.resolve(answer.result);
      else asked?.reject(new Error(answer.error));
    });
    worker.on("error", end);
    worker.on("exit", (code) => end(new Error(`the thread ${name} ended with ${code}`)));
    return started;
  }

  return {
    run(job) {
      thread ??= start();
      const asked: Asked<J> = { id: given++, job };
      const result = Promise.withResolvers<R>();
      thread.jobs.set(asked.id, result);
      thread.worker.ref();
      thread.worker.postMessage(asked);
      return result.promise;
    },
    waiting: () => thread?.jobs.size ?? 0,
  };
}
