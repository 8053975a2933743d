// Loaded into a process by NODE_OPTIONS: an error that nothing catches, as a failed query throws one, in the thread of
// the name BROKEN_THREAD ("main" for the event loop's) once the file BROKEN_WHEN is there.
import { existsSync } from "node:fs";
import { isMainThread, threadName } from "node:worker_threads";

const { BROKEN_THREAD, BROKEN_WHEN = "" } = process.env;

function breakWhenAsked() {
  if (!existsSync(BROKEN_WHEN)) return;
  throw Object.assign(new TypeError("Failed query: insert\nparams: P1234567"), { parameters: ["P1234567"] });
}

if (BROKEN_THREAD === (isMainThread ? "main" : threadName)) setInterval(breakWhenAsked, 5).unref();
