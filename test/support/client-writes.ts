import { expect } from "vitest";
import { request } from "./activations.ts";
import { passport } from "./passports.ts";
import { call, type Reply } from "./platform.ts";

/** A write as its client sees it: the response, or null when the connection or the process ended before. */
export interface Act {
  kind: "order" | "bulk" | "activation" | "passport" | "credit" | "stock";
  /** What identifies it: a key, an external id, an ICCID, a document number, a reference, a file. */
  name: string;
  body: unknown;
  answer: Reply["body"] | null;
}

/** Where a client sends its writes. */
export interface Service {
  url: string;
  token: string;
  /** How long a client waits for a response; left out: as long as it takes. */
  waitMs?: number;
}

function post({ url, token, waitMs }: Service, path: string, body: unknown, headers: Record<string, string> = {}) {
  return call(`${url}/api/v1${path}`, {
    method: "POST",
    ...(waitMs === undefined ? {} : { signal: AbortSignal.timeout(waitMs) }),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Sends a client's write, the first time or again. */
export function send(service: Service, { kind, name, body }: Act): Promise<Reply> {
  switch (kind) {
    case "order":
      return post(service, "/orders", body, { "idempotency-key": name });
    case "bulk":
      return post(service, "/orders/bulk", body);
    case "activation":
      return post(service, "/activations", body);
    default:
      return post(service, "/kyc/passports", body);
  }
}

/** What clients write. */
export interface Wishes {
  products: string[];
  /** Units in a line of an order; left out: 3. */
  mostUnits?: number;
}

/** The next write of a client: mostly orders, of a line or more. Names of one `round` differ from those of others. */
export function someAct({ products, mostUnits = 3 }: Wishes, round: number, random: () => number): Act {
  const name = `${round}-${Math.floor(random() * 2 ** 40)}`;
  const line_items = products
    .slice(0, 1 + Math.floor(random() * products.length))
    .map((product_id) => ({ product_id, quantity: 1 + Math.floor(random() * mostUnits) }));
  const chosen = random();
  if (chosen < 0.6) return { kind: "order", name, body: { line_items }, answer: null };
  if (chosen < 0.75) {
    const customer = { email: "mia@example.com", name: "Mia Chen" };
    return { kind: "bulk", name, body: { orders: [{ external_order_id: name, line_items, customer }] }, answer: null };
  }
  if (chosen < 0.9) {
    // The seeds of two rounds may give the same number.
    const digits = `${String(round).padStart(4, "0")}${String(Math.floor(random() * 1e9)).padStart(9, "0")}`;
    const iccid = `896103${digits}`;
    const dates = { activation_date: inDays(40), passport_expiry: inDays(900) };
    return { kind: "activation", name: iccid, body: request({ iccid, ...dates }), answer: null };
  }
  const record = passport({ passport_no: `P${round}X${Math.floor(random() * 1e9)}`, passport_expiry: inDays(900) });
  return { kind: "passport", name: record.passport_no, body: { records: [record] }, answer: null };
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** Sends a client's write again: it is stored once, as it was answered. */
async function expectOnce(service: Service, act: Act): Promise<void> {
  const { status, body } = await send(service, act);
  const where = `${act.kind} ${act.name}: ${JSON.stringify(body)}`;
  const { answer } = act;
  if (act.kind === "order") {
    expect(answer === null ? [200, 201] : [200], where).toContain(status);
    if (answer !== null) expect(body, where).toMatchObject({ id: answer.id, order_number: answer.order_number });
  } else if (act.kind === "bulk") {
    const [result] = body.results;
    expect(result, where).toMatchObject({ status: "success" });
    if (answer !== null) {
      expect(result, where).toMatchObject({ replayed: true, service_order_id: answer.results[0].service_order_id });
    }
  } else if (act.kind === "activation") {
    expect(answer === null ? [201, 409] : [409], where).toContain(status);
  } else {
    expect(body.imported + body.skipped_duplicates, where).toBe(1);
    if (answer !== null) expect(body, where).toMatchObject({ imported: 0, skipped_duplicates: 1 });
  }
}

/** Sends all writes of clients again, some at a time. */
export async function repeatAll(service: Service, acts: readonly Act[], atOnce: number): Promise<void> {
  const waiting = acts.filter(({ kind }) => kind !== "credit" && kind !== "stock");
  const repeat = async () => {
    for (let act = waiting.pop(); act !== undefined; act = waiting.pop()) await expectOnce(service, act);
  };
  await Promise.all(Array.from({ length: atOnce }, repeat));
}
