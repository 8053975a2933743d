import type { CommandName } from "./commands.ts";
import { fromPlain, toPlain } from "./plain.ts";
import { arrivedClaims, arrivedTurn, claimsToSend, turnToSend } from "./turn-forms.ts";

/** How a value is sent, and made of what was sent. */
export interface Form {
  send(value: unknown): unknown;
  arrived(sent: unknown): unknown;
}

const plain: Form = { send: toPlain, arrived: fromPlain };

/** A form of a type's own. `S` must be plain data: what other threads may send as it is. */
function formOf<T, S>(send: (value: T) => S, arrived: (sent: S) => T): Form {
  // Both ends use the form of the same command, whose types these are.
  return { send: (value) => send(value as T), arrived: (sent) => arrived(sent as S) };
}

const own: { [K in CommandName]?: { input: Form; result: Form } } = {
  takeTurn: { input: formOf(turnToSend, arrivedTurn), result: formOf(claimsToSend, arrivedClaims) },
};

/** How the input of a command is sent. */
export function formOfInput(command: CommandName): Form {
  return own[command]?.input ?? plain;
}

/** How the result of a command is sent. */
export function formOfResult(command: CommandName): Form {
  return own[command]?.result ?? plain;
}
