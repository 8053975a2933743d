import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { seeded } from "./random.ts";

/** What the thread is started with: a database with a table `scratch (id, text)`. */
export interface ScratchWork {
  file: string;
  seed: number;
}

// Writes rows of many sizes until it gets a message, then posts the rows that the table should hold.
const { file, seed }: ScratchWork = workerData;
const database = new Database(file, { timeout: 60_000 });
database.pragma("secure_delete = ON");
const put = database.prepare("INSERT INTO scratch VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET text = excluded.text");
const drop = database.prepare("DELETE FROM scratch WHERE id = ?");
const random = seeded(seed);
const rows = new Map<number, string>();
let stopped = false;
parentPort?.once("message", () => {
  stopped = true;
});

function act(): void {
  const id = Math.floor(random() * 400);
  const text = String(Math.floor(random() * 1e9)).repeat(1 + Math.floor(random() * 200));
  if (random() < 0.3) {
    drop.run(id);
    rows.delete(id);
  } else {
    put.run(id, text);
    rows.set(id, text);
  }
}

const acts = database.transaction(() => {
  for (let count = 0; count < 5; count++) act();
});

function round(): void {
  if (!stopped) {
    acts.immediate();
    setImmediate(round);
    return;
  }
  database.close();
  parentPort?.postMessage([...rows].sort(([one], [other]) => one - other));
}

round();
parentPort?.postMessage("writing");
