import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { allTopics, type Store, type Topic, type Tx } from "../src/core/store/store.ts";
import { testClock } from "./support/clock.ts";
import { cutConnections } from "./support/database.ts";
import { onPostgres, openTestStore, type TestStore } from "./support/store.ts";

/** A node that listens: the topics that it was woken for, of one fresh connection all. */
async function listener({ again }: TestStore): Promise<{ store: Store; woken: Topic[] }> {
  const store = await again();
  const woken: Topic[] = [];
  for (const topic of allTopics) onTestFinished(store.onSignal(topic, () => woken.push(topic)));
  const listening = store.nodes?.listen(() => undefined);
  onTestFinished(() => listening?.stop());
  await expect.poll(() => woken).toEqual(allTopics);
  woken.length = 0;
  return { store, woken };
}

const signaled = async (tx: Tx, topics: Topic[]) => {
  for (const topic of topics) tx.signal(topic);
};

const LISTENING = `SELECT 1 FROM pg_stat_activity
  WHERE application_name = 'esimctl listen' AND datname = current_database()`;

async function listeningOn(url: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(LISTENING).finally(() => client.end());
  return rowCount;
}

describe.runIf(onPostgres)("nodes on one database", () => {
  test("wake each other for what they commit, together for what comes together, and not themselves", async () => {
    const opened = await openTestStore(testClock());
    const one = await listener(opened);
    const two = await listener(opened);
    await Promise.all([
      one.store.write(signaled, ["deliveries"]),
      one.store.write(signaled, ["events", "deliveries"]),
      one.store.write(signaled, ["fulfillment"]),
    ]);
    await expect.poll(() => [...two.woken].sort()).toEqual(["deliveries", "events", "fulfillment"]);
    await two.store.write(signaled, ["sandbox"]);
    await expect.poll(() => one.woken.includes("sandbox")).toBe(true);
    // By its own commits: the notification of the other one came after its own.
    expect(one.woken.filter((topic) => topic === "fulfillment")).toHaveLength(1);
    expect(two.woken.filter((topic) => topic === "sandbox")).toHaveLength(1);
  });

  test("are woken by a process that ends at once, such as a command of the terminal", async () => {
    const opened = await openTestStore(testClock());
    const { woken } = await listener(opened);
    const command = await opened.again();
    await command.write(signaled, ["activations"]);
    await command.close();
    await expect.poll(() => woken).toEqual(["activations"]);
  });

  test("listen on one connection each, and again after it broke: then for all that they may have missed", async () => {
    const opened = await openTestStore(testClock());
    const { woken } = await listener(opened);
    const url = "url" in opened.location ? opened.location.url : "";
    expect(await listeningOn(url)).toBe(1);
    await cutConnections(url);
    await expect.poll(() => woken).toEqual(allTopics);
    expect(await listeningOn(url)).toBe(1);
    woken.length = 0;
    await opened.store.write(signaled, ["events"]);
    await expect.poll(() => woken).toEqual(["events"]);
  });
});
