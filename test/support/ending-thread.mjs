// Loaded into a process by NODE_OPTIONS, and with it into each of its threads: the one named by ENDED_THREAD ends with 7
// once the file named by ENDED_WHEN is there, as after an error in code of the machine's own.
import { existsSync } from "node:fs";
import { threadName } from "node:worker_threads";

if (threadName === process.env.ENDED_THREAD) {
  setInterval(() => existsSync(process.env.ENDED_WHEN) && process.exit(7), 20).unref();
}
