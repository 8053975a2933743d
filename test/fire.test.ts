import { expect, test } from "vitest";
import { setCarrier } from "../src/core/carriers/set.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { fire } from "./support/fire.ts";
import { startPlatform } from "./support/platform.ts";
import { SHARED_SECRET } from "./support/signed.ts";

/** `npm run fire` sends 100,000 with a seed of its own; FIRE_SEED repeats a run. */
const inputs = Number(process.env.FIRE_INPUTS ?? 500);
const seed = Number(process.env.FIRE_SEED ?? (inputs > 500 ? Date.now() % 2 ** 32 : 1));

test("malformed and hostile requests get no 5xx, and read or change no data of others", async () => {
  const platform = await startPlatform();
  const settings = { adapter: "http" as const, url: "http://127.0.0.1:9/x", secret: SHARED_SECRET };
  await platform.store.write(setCarrier, { prefix: "896103", settings, actor: "test" });
  await platform.store.write(setSupplier, { name: "northwind", settings, actor: "test" });
  const report = await fire(platform, { inputs, seed });
  console.info(`seed ${report.seed}, ${report.inputs} inputs: ${JSON.stringify(report.statuses)}`);
  expect(report.faults.slice(0, 20)).toEqual([]);
}, 3_600_000);
