import { anyone, key, type Scenario, type Stage } from "./generic-scenarios.ts";

/** A delivered sandbox eSIM and whose it is. */
async function delivered({ platform, products }: Stage) {
  const caller = await anyone(platform);
  const line_items = [{ product_id: products.EU5, quantity: 1 }];
  const { body: order } = await caller.send("POST", "/api/v1/orders", { line_items }, key());
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  return { caller, iccid: body.esims[0].iccid as string };
}

const scenario = (name: string) => ({ "x-sandbox-scenario": name });

/** A top-up of a sandbox eSIM, with these headers. */
async function toppedUp(stage: Stage, headers: object = {}) {
  const { caller, iccid } = await delivered(stage);
  const once = { ...key(), ...headers };
  const path = `/api/v1/esims/${iccid}/topups`;
  const first = await caller.send("POST", path, { product_id: stage.products.EU5 }, once);
  return { caller, iccid, path, once, first };
}

const reading =
  (suffix: string): Scenario =>
  async (stage) => {
    const { caller, iccid } = await delivered(stage);
    return caller.get(`/api/v1/esims/${iccid}${suffix}`);
  };

const badIccid =
  (suffix: string): Scenario =>
  async ({ platform }) =>
    (await anyone(platform)).get(`/api/v1/esims/nothing/${suffix}`);

/** How the operations of top-ups answer with each of their statuses, beyond what holds for any operation. */
export const topupScenarios: Readonly<Record<string, Readonly<Record<number, Scenario>>>> = {
  listTopupProducts: { 200: reading("/topup-products"), 400: badIccid("topup-products") },
  listTopups: { 200: reading("/topups"), 400: badIccid("topups") },
  createTopup: {
    200: async (stage) => {
      const { caller, path, once } = await toppedUp(stage);
      return caller.send("POST", path, { product_id: stage.products.EU5 }, once);
    },
    201: async (stage) => (await toppedUp(stage)).first,
    402: async (stage) => (await toppedUp(stage, scenario("insufficient_balance"))).first,
    404: async (stage) =>
      (await anyone(stage.platform)).send(
        "POST",
        "/api/v1/esims/8944100000000000998/topups",
        { product_id: stage.products.EU5 },
        key(),
      ),
    409: async (stage) => {
      const { caller, path, once } = await toppedUp(stage);
      return caller.send("POST", path, { product_id: stage.products.EU5, max_total_cents: 1 }, once);
    },
  },
  getTopup: {
    200: async (stage) => {
      const { caller, first } = await toppedUp(stage);
      return caller.get(`/api/v1/topups/${first.body.id}`);
    },
  },
};
