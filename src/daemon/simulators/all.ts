import type { SimulatedProvider } from "./provider.ts";

/** Every provider that can be simulated, by the name of its adapter; a protocol is loaded when it is asked for. */
export const simulators: ReadonlyMap<string, () => Promise<SimulatedProvider>> = new Map([
  ["esimaccess", async () => (await import("./esimaccess.ts")).simulateEsimaccess()],
  ["airalo", async () => (await import("./airalo.ts")).simulateAiralo()],
  ["esimgo", async () => (await import("./esimgo.ts")).simulateEsimgo()],
]);
