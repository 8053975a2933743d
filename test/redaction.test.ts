import { expect, test } from "vitest";
import { redact, redactNumber } from "../src/core/activations/outcome.ts";
import { request } from "./support/activations.ts";

const empty = { title: null, state: null, postcode: null };
const kyc = { ...empty, ...request(), postcode: "2612" } as unknown as Parameters<typeof redact>[1];

test("identity data that a carrier repeats is redacted in any spelling", () => {
  expect(redact("Passport qx 834-2075 (16.07.1964) and PUK 2254 2821 refused", kyc)).toBe(
    "Passport [redacted] ([redacted]) and PUK [redacted] refused",
  );
  expect(redact("SIM 9583 at 2612 Braddon", kyc)).toBe("SIM [redacted] at [redacted] [redacted]");
});

test("four digits that are part of a longer number are not redacted", () => {
  expect(redact("ticket T-12958301 of 95830 calls", kyc)).toBe("ticket T-12958301 of 95830 calls");
  expect(redactNumber("CN-9583", kyc)).toBe("CN-9583");
  expect(redactNumber("CN-QX8342075", kyc)).toBe("CN-[redacted]");
});
