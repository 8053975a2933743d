import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Ask, Step } from "../../../../core/supply/provider.ts";
import { deliveredEsim } from "../delivered.ts";
import { maybe, notedCost } from "../values.ts";
import type { Client } from "./client.ts";
import { isNotShown, queryRows } from "./esims.ts";
import { lost, type Notes, noAnswer, type Way } from "./purchase.ts";

const answered = Compile(Type.Object(maybe(Type.String(), "transactionId", "orderNo", "iccid", "topUpEsimTranNo")));

/** How far (ms) the clocks may be apart, for a window of time. */
const CLOCKS_APART_MS = 300_000;
/** How long an order may be allocating (ms): 60 times what the reference says. */
const ALLOCATING_MS = 1_800_000;
/**
 * After so many look-ups (107 s) without its entry on the eSIM a top-up is sent again, once: that a transactionId
 * protects top-ups as it does orders is not stated.
 */
const LOOKS_BEFORE_REPEAT = 5;

/** How an eSIM is ordered. After an outcome that is not known the order is sent again: it stays the same one. */
export function orderWay(client: Client, { plan, days, reference }: Ask, now: number): Way {
  const allocating = ({ price }: Notes, order: string): Step => {
    return { kind: "note", memory: { stage: "allocating", since: now, price, looks: 0, order } };
  };
  return {
    send({ price }, waitMs) {
      // How a unit's price is meant where days are counted is not stated: there the total alone is guarded.
      const [amount, periodNum] = [price ?? undefined, days ?? undefined]; // the request is without what is undefined
      const unit = { packageCode: plan, count: 1, price: days === null ? amount : undefined, periodNum };
      return client("/esim/order", { transactionId: reference, amount, packageInfoList: [unit] }, waitMs);
    },
    taken(notes, obj) {
      const isTaken = answered.Check(obj) && isOurs(obj.transactionId ?? reference, reference);
      return isTaken && obj.orderNo ? allocating(notes, obj.orderNo) : null;
    },
    repeats: () => true,
    async find(notes) {
      const { order } = notes;
      const window = { startTime: text(notes.since - CLOCKS_APART_MS), endTime: text(now + CLOCKS_APART_MS) };
      const answer = await queryRows(client, order === undefined ? window : { orderNo: order }, 0);
      if (answer.kind !== "done") {
        const isEarly = order !== undefined && isNotShown(answer);
        return isEarly ? stillAllocating(notes, now) : noAnswer(notes, answer);
      }
      // What the window is of is not certain: each row is compared.
      const rows = answer.value.filter(({ transactionId }) => isOurs(transactionId, reference));
      const [row] = rows;
      if (new Set(rows.map(({ esimTranNo }) => esimTranNo)).size > 1) return lost(notes, "it lists more than one eSIM");
      if (row === undefined) return order === undefined ? null : stillAllocating(notes, now);
      const esim = deliveredEsim({ iccid: row.iccid, codes: [row.ac], reference: row.esimTranNo });
      if (esim !== null) return { kind: "bought", esim, reference: row.orderNo, cost: notedCost(notes.price) };
      return order === undefined ? allocating(notes, row.orderNo) : stillAllocating(notes, now);
    },
  };
}

/** How the eSIM with this esimTranNo is topped up. */
export function topUpWay(client: Client, { plan, days, reference }: Ask, esimTranNo: string): Way {
  return {
    send({ price }, waitMs) {
      const asked = { esimTranNo, packageCode: plan, transactionId: reference };
      return client("/esim/topup", { ...asked, amount: price ?? undefined, periodNum: days ?? undefined }, waitMs);
    },
    taken(notes, obj) {
      if (!answered.Check(obj) || typeof obj.iccid !== "string") return null;
      if (!isOurs(obj.transactionId ?? reference, reference)) return null;
      return { kind: "applied", reference: obj.topUpEsimTranNo ?? reference, cost: notedCost(notes.price) };
    },
    repeats: (looks) => looks === LOOKS_BEFORE_REPEAT,
    async find(notes) {
      const answer = await queryRows(client, { esimTranNo }, 0);
      if (answer.kind !== "done") return noAnswer(notes, answer);
      const row = answer.value.find((one) => one.esimTranNo === esimTranNo);
      const entry = row?.packageList?.find(({ transactionId }) => isOurs(transactionId, reference));
      if (entry === undefined) return null;
      return { kind: "applied", reference: entry.esimTranNo ?? reference, cost: notedCost(notes.price) };
    },
  };
}

/** Units of a batch may have a mark behind their transactionId. */
function isOurs(transactionId: string | null | undefined, reference: string): boolean {
  return transactionId === reference || transactionId === `${reference}-1-1`;
}

/** A moment as the provider writes it. */
function text(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+0000`;
}

function stillAllocating(notes: Notes, now: number): Step {
  const age = now - notes.since;
  if (notes.lost || age > ALLOCATING_MS) return lost(notes, `its order ${notes.order ?? ""} is still not ready`);
  // Usually it takes 3 to 10 s, and at most 30.
  const waitMs = age < 10_000 ? 2_000 : 5_000;
  return { kind: "wait", memory: notes, waitMs: age < 60_000 ? waitMs : 10_000 };
}
