import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { WRITE_LOCK } from "../src/core/store/postgres/session.ts";
import { insert } from "../src/core/store/rows.ts";
import { slotOf } from "../src/core/store/schema/lanes.ts";
import type { Command, Read, Store, Tx } from "../src/core/store/store.ts";
import { sessionOn } from "./support/database.ts";
import { eventually } from "./support/hangs.ts";
import { addOrderersOfSlots } from "./support/lanes.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

/** A store, and partners whose orders are of different slots. */
async function opened(count: number) {
  const { store, location } = await openTestStore(systemClock);
  const partners = (await addOrderersOfSlots(store, count, 1_000)).map(({ partnerId }) => partnerId);
  const url = "url" in location ? location.url : "";
  return { store, url, partners };
}

/** Runs `work` as a write of the lane of a partner's orders. */
function writeIn<O>(store: Store, partnerId: string | undefined, work: (tx: Tx) => Promise<O>): Promise<O> {
  const lane = () => ({ kind: "orders" as const, key: partnerId ?? "" });
  const command: Command<null, O> = Object.assign((tx: Tx) => work(tx), { lane });
  return store.write(command, null);
}

const put = (key: string) => (tx: Tx) => insert(tx, "settings", [{ key, value: "put" }]);

async function settingOf(store: Store, key: string): Promise<string | undefined> {
  const rows = await store.read((q: Read) => q.db.select().from(q.t.settings).where(eq(q.t.settings.key, key)), null);
  return rows[0]?.value;
}

/** The transaction that a write is part of. */
async function transactionOf(tx: Tx): Promise<string | undefined> {
  const id = sql<string>`pg_current_xact_id()::text`;
  return (await tx.db.select({ id }).from(tx.t.settings).limit(1))[0]?.id;
}

describe.runIf(onPostgres)("writes of partners in different slots", () => {
  test("share a transaction when they come together, and take turns in it", async () => {
    const { store, partners } = await opened(3);
    const together = async () => {
      const ran: string[] = [];
      const writes = ["a0", "a1", "a2", "b0", "b1", "c0"].map((name) =>
        writeIn(store, partners["abc".indexOf(name[0] ?? "")], async (tx) => {
          ran.push(name);
          return transactionOf(tx);
        }),
      );
      return { transactions: new Set(await Promise.all(writes)).size, ran };
    };
    // On a busy machine a batch may take so long that it ends before all of them.
    const { ran } = await eventually(together, ({ transactions }) => transactions === 1);
    expect(ran).toEqual(["a0", "b0", "c0", "a1", "b1", "a2"]);
  });

  test("that come while another's is under way do not wait for its end", async () => {
    const { store, partners } = await opened(3);
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const long = writeIn(store, partners[0], async (tx) => {
      begun.resolve();
      await over.promise;
      return transactionOf(tx);
    });
    await begun.promise;
    const few = await eventually(
      () => Promise.all([1, 2].map((at) => writeIn(store, partners[at], transactionOf))),
      // On a busy machine a batch may end before the second of them.
      (transactions) => new Set(transactions).size === 1,
    );
    const many = await Promise.all(Array.from({ length: 40 }, () => writeIn(store, partners[1], transactionOf)));
    over.resolve();
    expect([...few, ...many]).not.toContain(await long);
  });

  test("are made without one that waits for the row of another session", async () => {
    const { store, url, partners } = await opened(3);
    await store.write(put("held"), null);
    const holder = await sessionOn(url);
    await holder.query("BEGIN; SELECT FROM settings WHERE key = 'held' FOR UPDATE");
    const change = async (tx: Tx) =>
      void (await tx.db.update(tx.t.settings).set({ value: "had" }).where(eq(tx.t.settings.key, "held")));
    const waiting = writeIn(store, partners[0], change);
    await Promise.all([writeIn(store, partners[1], put("one")), writeIn(store, partners[2], put("other"))]);
    expect(await settingOf(store, "held")).toBe("put");
    await holder.query("COMMIT");
    await waiting;
    expect(await settingOf(store, "held")).toBe("had");
  });

  test("are made without those of a slot that another node holds", async () => {
    const { store, url, partners } = await opened(3);
    const holder = await sessionOn(url);
    const slot = slotOf({ kind: "orders", key: partners[1] ?? "" });
    await holder.query(`SELECT pg_advisory_lock(${WRITE_LOCK}, ${slot})`);
    let isMade = false;
    const held = writeIn(store, partners[1], async () => {
      isMade = true;
    });
    await Promise.all([writeIn(store, partners[0], put("one")), writeIn(store, partners[2], put("other"))]);
    expect(isMade).toBe(false);
    await holder.query(`SELECT pg_advisory_unlock(${WRITE_LOCK}, ${slot})`);
    await held;
  });

  test("are made again although their line had ended when the batch was taken back", async () => {
    const { store, partners } = await opened(2);
    const gate = Promise.withResolvers<void>();
    const ran: number[] = [];
    const run = async (tx: Tx, at: number) => {
      ran.push(at);
      if (at === 1) return;
      await gate.promise;
      await put("failed")(tx);
      throw new Error("on purpose");
    };
    // All of them are taken before the first is run, so that the second line finds nothing that waits.
    const command = Object.assign(run, {
      lane: (at: number) => ({ kind: "orders" as const, key: partners[at] ?? "" }),
      prefetch: [],
    });
    const [failing, other] = [store.write(command, 0), store.write(command, 1)];
    await expect.poll(() => ran).toEqual([0]);
    gate.resolve();
    await expect(failing).rejects.toThrow("on purpose");
    await other;
    expect(ran.toSorted()).toEqual([0, 0, 1]);
    expect(await settingOf(store, "failed")).toBeUndefined();
  });

  test("are each made once beside one that fails after it has written", async () => {
    const { store, partners } = await opened(3);
    const fails = async (tx: Tx) => {
      await put("failed")(tx);
      throw new Error("on purpose");
    };
    for (let round = 0; round < 3; round++) {
      const all = partners.map((partner, at) => writeIn(store, partner, at === 1 ? fails : put(`${round} ${at}`)));
      const ended = await Promise.allSettled(all);
      expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(ended[1]).toMatchObject({ reason: { message: "on purpose" } });
    }
    const keys = ["failed", ...[0, 1, 2].flatMap((round) => [`${round} 0`, `${round} 2`])];
    const values = await Promise.all(keys.map((key) => settingOf(store, key)));
    expect(values).toEqual([undefined, ...Array.from({ length: 6 }, () => "put")]);
  });
});
