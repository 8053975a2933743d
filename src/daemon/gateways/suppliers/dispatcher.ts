import { Agent, type Dispatcher } from "undici";

/** Connections to providers, kept for the next calls; idle ones keep no process running. */
export function createDispatcher(): Dispatcher {
  return new Agent();
}
