import type { Command, Store } from "../../src/core/store/store.ts";
import { commands } from "../../src/daemon/writer/commands.ts";
import { fromPlain, toPlain } from "../../src/daemon/writer/plain.ts";
import { arrivedError, sentError } from "../../src/daemon/writer/sent-errors.ts";

const known = new Set<unknown>(Object.values(commands));

/**
 * The same store, whose daemon's commands get and answer what another thread would: whatever a command takes or answers
 * in any test can be sent.
 */
export function asSent(store: Store): Store {
  async function sending<I, O>(command: Command<I, O>, input: I, run: (arrived: I) => Promise<O>): Promise<O> {
    if (!known.has(command)) return run(input);
    try {
      return sent(await run(sent(input)));
    } catch (error) {
      throw arrivedError(structuredClone(sentError(error)));
    }
  }
  return {
    ...store,
    write: (command, input, requestId, owner) =>
      sending(command, input, (arrived) => store.write(command, arrived, requestId, owner)),
    rehearse: (command, input) => sending(command, input, (arrived) => store.rehearse(command, arrived)),
  };
}

// It is what was sent.
const sent = <T>(value: T): T => fromPlain(structuredClone(toPlain(value))) as T;
