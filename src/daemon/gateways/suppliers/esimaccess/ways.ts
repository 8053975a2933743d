import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { activationCode, readActivationCode } from "../../../../core/esims/activation-code.ts";
import { iccidFault, plainDigits } from "../../../../core/kernel/iccid.ts";
import type { Ask, BoughtEsim, Step } from "../../../../core/supply/provider.ts";
import { type Client, Text } from "./client.ts";
import { type EsimRow, isNotShown, queryRows } from "./esims.ts";
import { lost, type Notes, noAnswer, paid, type Way } from "./purchase.ts";

const placed = Compile(Type.Object({ orderNo: Type.String({ minLength: 1 }), transactionId: Text }));
const applied = Compile(Type.Object({ iccid: Type.String(), transactionId: Text, topUpEsimTranNo: Text }));

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
      const unit = price === null || days !== null ? {} : { price };
      const packageInfoList = [{ packageCode: plan, count: 1, ...unit, ...period(days) }];
      return client("/esim/order", { transactionId: reference, ...total(price), packageInfoList }, waitMs);
    },
    taken(notes, obj) {
      const isTaken = placed.Check(obj) && isOurs(obj.transactionId ?? reference, reference);
      return isTaken ? allocating(notes, obj.orderNo) : null;
    },
    repeats: () => true,
    async find(notes) {
      const { order } = notes;
      const window = { startTime: text(notes.since - CLOCKS_APART_MS), endTime: text(now + CLOCKS_APART_MS) };
      const answer = await queryRows(client, order === undefined ? window : { orderNo: order });
      if ("failed" in answer) {
        const isEarly = order !== undefined && isNotShown(answer.failed);
        return isEarly ? stillAllocating(notes, now) : noAnswer(notes, answer.failed);
      }
      // What the window is of is not certain: each row is compared.
      const rows = answer.rows.filter(({ transactionId }) => isOurs(transactionId, reference));
      const [row] = rows;
      if (new Set(rows.map(({ esimTranNo }) => esimTranNo)).size > 1) return lost(notes, "it lists more than one eSIM");
      const esim = row === undefined ? null : esimOf(row);
      if (esim !== null) return { kind: "bought", esim, reference: row?.orderNo ?? null, cost: paid(notes) };
      if (order !== undefined) return stillAllocating(notes, now);
      return row === undefined ? null : allocating(notes, row.orderNo);
    },
  };
}

/** How the eSIM with this esimTranNo is topped up. */
export function topUpWay(client: Client, { plan, days, reference }: Ask, esimTranNo: string): Way {
  return {
    send({ price }, waitMs) {
      const asked = { esimTranNo, packageCode: plan, transactionId: reference };
      return client("/esim/topup", { ...asked, ...total(price), ...period(days) }, waitMs);
    },
    taken(notes, obj) {
      if (!applied.Check(obj) || !isOurs(obj.transactionId ?? reference, reference)) return null;
      return { kind: "applied", reference: obj.topUpEsimTranNo ?? reference, cost: paid(notes) };
    },
    repeats: (looks) => looks === LOOKS_BEFORE_REPEAT,
    async find(notes) {
      const answer = await queryRows(client, { esimTranNo });
      if ("failed" in answer) return noAnswer(notes, answer.failed);
      const row = answer.rows.find((one) => one.esimTranNo === esimTranNo);
      const entry = row?.packageList?.find(({ transactionId }) => isOurs(transactionId, reference));
      if (entry === undefined) return null;
      return { kind: "applied", reference: entry.esimTranNo ?? reference, cost: paid(notes) };
    },
  };
}

/** The price guard: another total is refused. */
function total(price: number | null): { amount?: number } {
  return price === null ? {} : { amount: price };
}

function period(days: number | null): { periodNum?: number } {
  return days === null ? {} : { periodNum: days };
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

/** Null: the row does not show all of it yet. */
function esimOf({ iccid, ac, esimTranNo }: EsimRow): BoughtEsim | null {
  const digits = plainDigits(iccid ?? "");
  const code = readActivationCode(ac ?? "");
  if (iccidFault(digits, { least: 13 }) !== null || !("ok" in code)) return null;
  return { iccid: digits, activationCode: activationCode(code.ok), confirmationCode: null, reference: esimTranNo };
}
