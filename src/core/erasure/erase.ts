import type { ActivationId, OrderId, OrderItemId, PassportId, TravelerMailId } from "../kernel/brand.ts";
import { withoutTraces } from "../kernel/traces.ts";
import { deletePassport } from "../passports/delete.ts";
import { findByKey } from "../store/rows.ts";
import type { Read, Store, Tx } from "../store/store.ts";
import { type Clearing, clearActivation, clearCustomer, clearItem, clearMail, hasEnded } from "./clear.ts";
import { clearKeys, type KeyRow, NO_HASH, readKeys } from "./pages.ts";
import {
  isOwnActivation,
  isOwnItem,
  isOwnMail,
  isOwnOrder,
  isOwnPassport,
  type Person,
  tracesOfPerson,
} from "./person.ts";
import { BATCH } from "./purge.ts";
import { type Found, isFinished, isSettled } from "./survey.ts";
import { clearTexts } from "./texts.ts";

/** Whom to erase, and the records that `surveyPerson` found. */
export interface Erasure {
  person: Person;
  found: readonly Found[];
  actor: string;
  /** Once aborted it ends after the transaction under way; survey and erasure again go on. */
  signal?: AbortSignal;
}

/**
 * Erases a person from what a survey found erasable, in short transactions. The hashes of payloads go first: once the
 * records are cleared, nothing leads to them. Answers the records that it erased; cut off, a new survey finds the rest.
 */
export async function erasePerson(store: Store, { person, found, actor, signal }: Erasure): Promise<Found[]> {
  const clearing: Clearing = { actor, verb: "erase" };
  const due = found.filter(({ state }) => state === "erasable");
  await eraseKeys(store, person, due, signal);
  const erased: Found[] = [];
  for (let at = 0; at < due.length && signal?.aborted !== true; at += BATCH) {
    const records = due.slice(at, at + BATCH);
    erased.push(...(await store.write(eraseRecords, { person, records, clearing })));
  }
  return erased;
}

async function eraseKeys(store: Store, person: Person, due: Found[], signal: AbortSignal | undefined): Promise<void> {
  const traces = tracesOfPerson(person);
  const orders = new Set(due.flatMap(({ ended_order }) => ended_order ?? []));
  const names = (key: KeyRow) => withoutTraces(key.key, traces) !== key.key;
  const pick = async (q: Read, key: KeyRow) => {
    if (orders.has(key.order_id) && key.payload_hash !== NO_HASH) return true;
    if (!names(key)) return false;
    const order = await findByKey(q, "orders", { id: key.order_id });
    return order !== null && hasEnded(order);
  };
  for await (const rows of readKeys(store, pick, signal)) {
    const keys = rows.map((key) => (names(key) ? { ...key, rename: `erased-${key.order_id}` } : key));
    for (let at = 0; at < keys.length; at += BATCH) await store.write(clearKeys, { keys: keys.slice(at, at + BATCH) });
  }
}

/** Erases those of the records that are still the person's and have ended; answers which. */
async function eraseRecords(
  tx: Tx,
  input: { person: Person; records: readonly Found[]; clearing: Clearing },
): Promise<Found[]> {
  const traces = tracesOfPerson(input.person);
  const erased: Found[] = [];
  for (const record of input.records) {
    const { table, id } = record;
    const done =
      table === null
        ? await eraseOwn(tx, input.person, record, input.clearing)
        : await clearTexts(tx, { table, id, traces, clearing: input.clearing });
    if (done) erased.push(record);
  }
  return erased;
}

async function eraseOwn(tx: Tx, person: Person, { kind, id }: Found, clearing: Clearing): Promise<boolean> {
  // The survey read each id from the table of its kind.
  switch (kind) {
    case "passport": {
      const row = await findByKey(tx, "passports", { id: id as PassportId });
      if (row === null || !isOwnPassport(tx, person, row)) return false;
      await deletePassport(tx, row, clearing);
      return true;
    }
    case "activation": {
      const row = await findByKey(tx, "activations", { id: id as ActivationId });
      if (row === null || !isFinished(row) || !isOwnActivation(tx, person, row)) return false;
      await clearActivation(tx, row, clearing);
      return true;
    }
    case "order_item": {
      const row = await findByKey(tx, "orderItems", { id: id as OrderItemId });
      if (row === null || !isSettled(row) || !isOwnItem(tx, person, row)) return false;
      await clearItem(tx, row, clearing);
      return true;
    }
    case "order": {
      const row = await findByKey(tx, "orders", { id: id as OrderId });
      if (row === null || !hasEnded(row) || !isOwnOrder(tx, person, row)) return false;
      await clearCustomer(tx, row, clearing);
      return true;
    }
    case "traveler_mail": {
      const row = await findByKey(tx, "travelerMails", { id: id as TravelerMailId });
      if (row === null || !isOwnMail(tx, person, row)) return false;
      await clearMail(tx, row, clearing);
      return true;
    }
    default:
      return false;
  }
}
