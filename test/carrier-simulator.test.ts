import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { activationById, requireActivation } from "../src/core/activations/activation.ts";
import { customerOf } from "../src/core/activations/customer.ts";
import { signatureFault } from "../src/core/webhooks/signature.ts";
import { readCarrierResponse } from "../src/daemon/gateways/carrier-response.ts";
import { otherwise, simulatedEndings } from "../src/daemon/gateways/carriers.ts";
import { iccid, kinds, startActivationPlatform } from "./support/activations.ts";
import { MINUTE } from "./support/carrier.ts";

describe("the simulator", () => {
  /** The states of a request with this ending after each of these waits (ms), and the kinds of its events. */
  async function course(ending: string, waits: number[]) {
    const platform = await startActivationPlatform({ adapter: "simulator" });
    const partner = await platform.caller();
    const id = await platform.submit(partner, { iccid: iccid("a", ending), activation_date: "2026-03-02" });
    const states: string[] = [];
    for (const wait of [5_000, ...waits]) {
      platform.clock.advance(wait);
      await platform.work();
      const row = await platform.store.read(activationById, id);
      states.push(row?.processing_status ?? "gone");
    }
    const row = await platform.store.read(requireActivation, id);
    const number = customerOf(platform.store, row).mobile_number;
    return { states, row, number, emitted: kinds(await platform.events(id)) };
  }

  const [submitted, confirmed, activated, failed] = ["submitted", "confirmed", "activated", "failed"].map(
    (step) => `activation.${step}`,
  );
  const HOUR = 60 * MINUTE;
  const tries = [1, 2, 4, 8, 16].map((minutes) => minutes * MINUTE);

  test.each([
    ["00", [5_000], ["confirmed", "completed"], [submitted, confirmed, activated]],
    ["11", [], ["failed"], [submitted, failed]],
    ["12", [], ["failed"], [submitted, failed]],
    ["13", [], ["failed"], [submitted, failed]],
    ["21", tries.slice(0, 2), ["processing", "processing", "completed"], [submitted, activated]],
    ["22", tries, [...Array(5).fill("processing"), "manual_required"], [submitted]],
    ["31", [5_000], ["processing", "completed"], [submitted, activated]],
    ["32", [5_000, 5_000], ["processing", "confirmed", "completed"], [submitted, confirmed, activated]],
    ["33", [23 * HOUR, HOUR], ["processing", "processing", "manual_required"], [submitted]],
    ["34", [23 * HOUR, HOUR], ["confirmed", "confirmed", "manual_required"], [submitted, confirmed]],
  ])("an ICCID that ends in %s follows its documented course", async (ending, waits, states, emitted) => {
    expect(simulatedEndings.map((one) => one.ending).concat("00")).toContain(ending);
    expect(await course(ending, waits)).toMatchObject({ states, emitted });
  });

  test("mobile numbers are made up, and the same for the same SIM", async () => {
    const { row, number } = await course("31", [5_000]);
    expect(number).toMatch(/^\+614915701?\d+$/);
    expect(row.confirmation_number).toMatch(/^SIM-\d{8}$/);
  });
});

describe("docs/carriers.md", () => {
  const page = readFileSync("docs/carriers.md", "utf8");

  test("shows the table of the simulator", () => {
    for (const { ending, behavior } of simulatedEndings) expect(page).toContain(`| \`…${ending}\` | ${behavior} |`);
    expect(page).toContain(`| any other | ${otherwise.behavior} |`);
    expect(page.match(/^\| `…\d\d` \|/gm)).toHaveLength(simulatedEndings.length);
  });

  test("its signature example verifies", () => {
    const value = (name: string) => new RegExp(`^${name}: (.+)$`, "m").exec(page)?.[1] ?? "";
    const [secret, body, header] = [value("secret"), value("body"), value("X-Signature")];
    const at = Number(/^t=(\d+),/.exec(header)?.[1]) * 1000;
    expect(signatureFault({ secret, body, header }, at)).toBeNull();
    expect(signatureFault({ secret, body: `${body} `, header }, at)).toBe("signature");
  });

  test("its example responses are accepted", () => {
    const examples = [...page.matchAll(/^```json\n(\{[^`]*?"outcome"[^`]*?\})\n```/gm)].map(([, text]) => text ?? "");
    const outcomes = examples.map((text) => readCarrierResponse(JSON.parse(text))?.kind);
    expect(outcomes).toEqual(["accepted", "confirmed", "activated", "refused", "activated"]);
  });
});
