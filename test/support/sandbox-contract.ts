import { anyone, key, type Scenario, type Stage } from "./generic-scenarios.ts";

const CLOCK = "/api/v1/sandbox/clock";

/** How the operations of the sandbox kit answer with each of their statuses, beyond what holds for any operation. */
export const sandboxScenarios: Readonly<Record<string, Readonly<Record<number, Scenario>>>> = {
  advanceSandboxClock: {
    200: async ({ platform }) => (await anyone(platform)).send("POST", CLOCK, { advance: "P7D" }),
  },
  resetSandboxClock: {
    200: async ({ platform }) => (await anyone(platform)).send("DELETE", CLOCK),
  },
  reportSandboxEsim: {
    200: (stage) => reported(stage, { event: "activated" }),
    404: async ({ platform }) =>
      (await anyone(platform)).send("POST", "/api/v1/sandbox/esims/8944100000000000998", { event: "activated" }),
    409: (stage) => reported(stage, { event: "resumed" }),
  },
};

async function reported({ platform, products }: Stage, report: object) {
  const caller = await anyone(platform);
  const line_items = [{ product_id: products.EU5, quantity: 1 }];
  const { body: order } = await caller.send("POST", "/api/v1/orders", { line_items }, key());
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  return caller.send("POST", `/api/v1/sandbox/esims/${body.esims[0].iccid}`, report);
}
