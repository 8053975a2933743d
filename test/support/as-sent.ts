import type { Command, Store } from "../../src/core/store/store.ts";
import { decode, encode } from "../../src/daemon/writer/codec.ts";
import { commands } from "../../src/daemon/writer/commands.ts";
import { arrivedError, sentError } from "../../src/daemon/writer/sent-errors.ts";

const sendable = new Set<unknown>(Object.values(commands));

/**
 * The same store, whose daemon's commands get and answer what another thread would: whatever a command takes or answers
 * in any test can be sent.
 */
export function asSent(store: Store): Store {
  async function sending<I, O>(command: Command<I, O>, input: I, run: (arrived: I) => Promise<O>): Promise<O> {
    if (!sendable.has(command)) return run(input);
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
const sent = <T>(value: T): T => decode(structuredClone(encode(value))) as T;
