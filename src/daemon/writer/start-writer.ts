import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { threadFile } from "../../core/kernel/thread-file.ts";
import type { WritesBeside } from "../../core/store/open/open.ts";
import { closedError } from "../../core/store/problems.ts";
import type { Command } from "../../core/store/store.ts";
import type { UnreadableError } from "../../core/store/vault.ts";
import { decode, encode } from "./codec.ts";
import { type CommandName, commands } from "./commands.ts";
import type { AskedCommand, FromWriter, ToWriter, WriterRequest, WriterWork } from "./messages.ts";
import { arrivedError } from "./sent-errors.ts";

/** A thread that has opened a database file and makes its writes. */
export interface WriterThread {
  /** Connects one store to it, which closes it with itself. */
  connect: WritesBeside;
  /** Refuses what waits, ends what is under way, closes the file and ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts the thread on a data directory's database: it makes and migrates it, reads it for damage, and then runs the
 * commands that it is sent, so that the event loop of this one neither decides nor waits for the disk. Throws what
 * `openStore` throws. A thread that fails later ends the process, as any failure of its kind here does.
 */
export async function startWriter(work: WriterWork): Promise<WriterThread> {
  const worker = new Worker(threadFile(import.meta.url, "writer"), {
    workerData: work,
    name: "writer",
    // Closing a descriptor of the database would drop the locks of every connection of this process.
    trackUnmanagedFds: false,
    // A profile is of all threads; other flags are the process's, or of a program that was given as text.
    execArgv: process.execArgv.filter((flag) => flag.startsWith("--cpu-prof")),
  });
  // Rejects with what ended the thread before it said anything.
  const [first] = (await once(worker, "message")) as [FromWriter];
  if (first.kind === "failed") {
    await worker.terminate();
    throw arrivedError(first.error);
  }
  return connectionTo(worker);
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

function connectionTo(worker: Worker): WriterThread {
  const waiting = new Map<number, Waiting>();
  const send = sendingTo(worker);
  let base: Parameters<WritesBeside>[0] | null = null;
  let closing: Promise<void> | null = null;
  let asked = 0;

  worker.on("message", (message: FromWriter) => {
    if (message.kind === "unreadable") base?.report(arrivedError(message.error) as UnreadableError);
    if (message.kind !== "answers") return;
    for (const answered of message.answers) {
      const { id } = answered;
      if ("error" in answered) waiting.get(id)?.reject(arrivedError(answered.error));
      else waiting.get(id)?.resolve(answered.value);
      waiting.delete(id);
    }
    for (const topic of message.topics) base?.committed(topic);
  });
  failWith(worker, () => closing !== null);

  /** `O`: what the command of that name answers, or `erase`. */
  function ask<O>(what: AskedCommand | { how: "erase" }): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      if (closing !== null) return reject(closedError());
      asked += 1;
      waiting.set(asked, { resolve: (value) => resolve(decode(value) as O), reject });
      send({ id: asked, ...what });
    });
  }

  async function close(): Promise<void> {
    const ended = once(worker, "exit");
    send.now("close");
    await ended;
  }

  const writes: ReturnType<WritesBeside> = {
    write: async (command, input, requestId, owner) =>
      ask({ how: "write", ...named(command, input), requestId, owner }),
    rehearse: async (command, input) =>
      ask({ how: "rehearse", ...named(command, input), requestId: undefined, owner: undefined }),
    erase: () => ask({ how: "erase" }),
    close() {
      closing ??= close();
      return closing;
    },
  };
  return {
    connect(given) {
      base = given;
      return writes;
    },
    close: writes.close,
  };
}

/** Throws what nothing catches where the thread ends by itself: without it nothing can be written. */
function failWith(worker: Worker, isClosing: () => boolean): void {
  let failed = false;
  worker.once("error", (error) => {
    failed = true;
    throw error;
  });
  worker.once("exit", (code) => {
    // What it failed with says more, and is on its way.
    if (!isClosing() && !failed) throw new Error(`The thread that writes has ended by itself (${code}).`);
  });
}

/** Sends what is asked in one turn of the event loop as one message. */
function sendingTo(worker: Worker) {
  let gathered: WriterRequest[] = [];
  function flush(): void {
    if (gathered.length > 0) worker.postMessage(gathered satisfies ToWriter);
    gathered = [];
  }
  const later = (asked: WriterRequest) => {
    gathered.push(asked);
    if (gathered.length === 1) setImmediate(flush);
  };
  return Object.assign(later, {
    now(message: ToWriter): void {
      flush();
      worker.postMessage(message);
    },
  });
}

const names = new Map<unknown, CommandName>(
  // The keys of an object as they are typed.
  (Object.entries(commands) as [CommandName, unknown][]).map(([name, command]) => [command, name]),
);

/** A command by its name, with its input as it is sent. */
function named<I, O>(command: Command<I, O>, input: I): Pick<AskedCommand, "command" | "input"> {
  return { command: nameOf(command), input: encode(input) };
}

/** The name that both threads know a command by. Throws an `Error` for one that is not among `commands`. */
function nameOf<I, O>(command: Command<I, O>): CommandName {
  const name = names.get(command);
  if (name === undefined) throw new Error(`${command.name} is missing among the commands of the writer`);
  return name;
}
