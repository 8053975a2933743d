import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { rotateLinkKey } from "../src/core/credentials/rotate-keys.ts";
import { addProducts } from "./support/catalog.ts";
import { startDaemon, targetOf } from "./support/daemon.ts";
import { call, startPlatform } from "./support/platform.ts";
import { openShop, requestToken } from "./support/shop.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";
import { placeOrder } from "./support/supplies.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

async function installation() {
  const folder = temporaryDirectory();
  const url = onPostgres ? (await freshPostgres()).url : undefined;
  const shop = await openShop({ folder, url, stock: { EU5: 1 }, priceCents: 1, fundsCents: 100 });
  const { args, env } = targetOf(shop.served);
  const keyFile = join(folder, "data", "esimctl.key");
  return {
    ...shop,
    folder,
    keyFile,
    run: (line: string, more: string[] = []) => esimctl([...line.split(" "), ...args, ...more], { env }),
    json: async (line: string) => Object(await esimctlJson([...line.split(" "), ...args], { env })),
  };
}

const keyWords = (file: string) => readFileSync(file, "utf8");

test("a new master key takes effect while a daemon serves, and the old key no longer opens anything", {
  tags: ["slow"],
}, async () => {
  const shop = await installation();
  const { keyFile, json, run } = shop;
  const before = keyWords(keyFile);
  const daemon = await startDaemon(shop.served);
  expect((await requestToken(shop, daemon.url)).status).toBe(200);
  const rotated = await json("keys rotate master");
  expect(rotated).toEqual({ key_file: keyFile, old_key_file: expect.stringContaining("esimctl.key.until-") });
  expect(keyWords(rotated.old_key_file)).toBe(before);
  expect(keyWords(keyFile)).not.toBe(before);
  expect((await requestToken(shop, daemon.url)).status).toBe(200);
  // The daemon learns of data keys that are wrapped under a master key which it has not read yet.
  expect(await json("keys rotate data")).toMatchObject({ finished: true });
  expect(await json("keys rotate signing --now")).toMatchObject({ key_id: expect.any(String) });
  expect((await requestToken(shop, daemon.url)).status).toBe(200);
  expect((await daemon.stop()).exitCode).toBe(0);
  expect(await json("doctor")).toMatchObject({ ok: true });
  copyFileSync(keyFile, join(shop.folder, "new.key"));
  copyFileSync(rotated.old_key_file, keyFile);
  expect((await run("partners list")).stderr).toContain("The master key does not belong to this database.");
});

test("an interrupted rotation of the master key leaves a database that opens", async () => {
  const { keyFile, json } = await installation();
  const next = `${keyFile}.next`;
  // Before the commit: the new key is on disk, and the data keys are wrapped under the old one.
  writeFileSync(next, `esimctl-key-v1:${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  expect((await json("partners list")).count).toBe(1);
  const old = keyWords(keyFile);
  const { old_key_file } = await json("keys rotate master");
  expect(existsSync(next)).toBe(false);
  // After the commit: the key file is still the old one.
  renameSync(keyFile, next);
  copyFileSync(old_key_file, keyFile);
  const fresh = keyWords(next);
  expect((await json("partners list")).count).toBe(1);
  expect(keyWords(keyFile)).toBe(fresh);
  expect(existsSync(next)).toBe(false);
  expect(old).toBe(keyWords(old_key_file));
});

test.skipIf(onPostgres)("backups from before a rotation open with the master key of their time", async () => {
  const { data, folder, json } = await installation();
  const [whole, bare] = [join(folder, "whole.backup"), join(folder, "bare.backup")];
  await json(`backup ${whole}`);
  await json(`backup ${bare} --without-key`);
  const { old_key_file } = await json("keys rotate master");
  for (const [file, key] of [
    [whole, []],
    [bare, ["--key-file", old_key_file]],
  ] as const) {
    expect(await esimctlJson(["verify-backup", file, ...key])).toMatchObject({ ok: true });
    const restored = join(folder, `from-${file.includes("whole") ? "whole" : "bare"}`);
    await esimctlJson(["restore", file, "--data", restored, ...key]);
    expect(Object(await esimctlJson(["partners", "list", "--data", restored])).count).toBe(1);
  }
  const wrong = await esimctl(["verify-backup", bare, "--key-file", join(data, "esimctl.key")]);
  expect(wrong.exitCode).toBe(1);
  expect(dirname(old_key_file)).toBe(data);
});

test("new links replace the old ones at once, in every process", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const order = await placeOrder(caller, products.EU5);
  await platform.fulfill();
  const links = async () => (await caller.get(`/api/v1/orders/${order}/esims`)).body.esims[0];
  const status = async (link: string) => (await call(platform.url + new URL(link).pathname)).status;
  const before = await links();
  expect(await status(before.install_url)).toBe(200);
  await (await platform.again()).write(rotateLinkKey, { actor: "operator" });
  expect(await status(before.install_url)).toBe(404);
  expect(await status(before.qr_code_url)).toBe(404);
  const after = await links();
  expect(await status(after.install_url)).toBe(200);
  expect(await status(after.qr_code_url)).toBe(200);
});

test("keys rotate links shows its consequence, and asks", async () => {
  const { run, json } = await installation();
  const asked = await run("keys rotate links");
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toContain("End the addresses of the QR codes and install pages of 0 eSIMs?");
  expect(await json("keys rotate links --yes")).toEqual({ key_id: expect.any(String), links: 0 });
});
