import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../core/kernel/clock.ts";
import { randomIds } from "../../core/kernel/ids.ts";
import { openStore } from "../../core/store/open/open.ts";
import { masterKeysAt } from "../../core/store/sealing/key-files.ts";
import { allTopics, type Command, type Store, type Topic } from "../../core/store/store.ts";
import { decode, encode } from "./codec.ts";
import { commands } from "./commands.ts";
import type { Answered, FromWriter, ToWriter, WriterRequest, WriterWork } from "./messages.ts";
import { sentError } from "./sent-errors.ts";

// Its starter passes it.
const { file, create, verify, bulk, masterKey, keys }: WriterWork = workerData;
const send = (message: FromWriter) => parentPort?.postMessage(message);

/** Sends what one turn of the event loop has answered and signaled as one message. */
function gathering() {
  const answers: Answered[] = [];
  const topics = new Set<Topic>();
  let due = false;
  function flush(): void {
    due = false;
    send({ kind: "answers", answers: answers.splice(0), topics: [...topics] });
    topics.clear();
  }
  function later(): void {
    if (!due) setImmediate(flush);
    due = true;
  }
  return {
    answer(answered: Answered): void {
      answers.push(answered);
      later();
    },
    signal(topic: Topic): void {
      topics.add(topic);
      later();
    },
    /** At once. */
    flush,
  };
}

async function run(store: Store, asked: WriterRequest): Promise<unknown> {
  if (asked.how === "erase") return store.erase();
  // Found by the name under which its own input was sent.
  const command = commands[asked.command] as unknown as Command<unknown, unknown>;
  const input = decode(asked.input);
  const { how, requestId, owner } = asked;
  return encode(
    await (how === "write" ? store.write(command, input, requestId, owner) : store.rehearse(command, input)),
  );
}

function serveWrites(store: Store): void {
  const gathered = gathering();
  for (const topic of allTopics) store.onSignal(topic, () => gathered.signal(topic));
  store.onUnreadable((error) => send({ kind: "unreadable", error: sentError(error) }));
  const running = new Set<Promise<void>>();
  async function answer(asked: WriterRequest): Promise<void> {
    const { id } = asked;
    gathered.answer(
      await run(store, asked).then(
        (value) => ({ id, value }),
        (error: unknown) => ({ id, error: sentError(error) }),
      ),
    );
  }
  function start(asked: WriterRequest): void {
    const answering: Promise<void> = answer(asked).finally(() => running.delete(answering));
    running.add(answering);
  }
  parentPort?.on("message", async (message: ToWriter) => {
    if (message !== "close") return message.forEach(start);
    await store.close();
    await Promise.all(running);
    gathered.flush();
    parentPort?.close();
  });
}

try {
  const dependencies = {
    clock: systemClock,
    ids: randomIds(),
    masterKey: Buffer.from(masterKey),
    masterKeys: () => masterKeysAt(keys),
  };
  serveWrites(await openStore({ file, create, verify, bulk, watched: true }, dependencies));
  send({ kind: "opened" });
} catch (error) {
  send({ kind: "failed", error: sentError(error) });
}
