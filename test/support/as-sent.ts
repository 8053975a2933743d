import type { Command, Store } from "../../src/core/store/store.ts";
import { type CommandName, commands } from "../../src/daemon/writer/commands.ts";
import { type Form, formOfInput, formOfResult } from "../../src/daemon/writer/forms.ts";
import { arrivedError, sentError } from "../../src/daemon/writer/sent-errors.ts";

const names = new Map<unknown, CommandName>(
  // The keys of an object as they are typed.
  (Object.entries(commands) as [CommandName, unknown][]).map(([name, command]) => [command, name]),
);

/**
 * The same store, whose daemon's commands get and answer what another thread would: whatever a command takes or answers
 * in any test can be sent.
 */
export function asSent(store: Store): Store {
  async function sending<I, O>(command: Command<I, O>, input: I, run: (arrived: I) => Promise<O>): Promise<O> {
    const name = names.get(command);
    if (name === undefined) return run(input);
    try {
      return sent(formOfResult(name), await run(sent(formOfInput(name), input)));
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
const sent = <T>(form: Form, value: T): T => form.arrived(structuredClone(form.send(value))) as T;
