import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { openShop, requestToken } from "./support/shop.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const newKey = () => `esimctl-key-v1:${randomBytes(32).toString("base64url")}`;

/** An empty place, and commands on it with an environment. */
async function emptyPlace() {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  const at = onPostgres ? ["--database", (await freshPostgres()).url] : ["--data", data];
  return {
    folder,
    data,
    keyFile: join(data, "esimctl.key"),
    run: (line: string, env: Record<string, string>, input = "") =>
      esimctl([...line.split(" "), ...at, "--json"], { env, input }),
    json: async (line: string, env: Record<string, string>) =>
      Object(await esimctlJson([...line.split(" "), ...at], { env })),
  };
}

/** A credential as systemd hands it to a service. */
function credential(folder: string, key: string): Record<string, string> {
  const directory = join(folder, `credentials-${randomBytes(4).toString("hex")}`);
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, "esimctl.key"), `${key}\n`, { mode: 0o400 });
  return { CREDENTIALS_DIRECTORY: directory };
}

const errorOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).error;

function findingsOf({ stdout }: { stdout: string }): { check: string; level: string; message: string }[] {
  return JSON.parse(stdout).findings;
}

test("ESIMCTL_KEY takes the place of the key file, and no command prints it", async () => {
  const { folder, data, run, json } = await emptyPlace();
  const key = newKey();
  const env = { ESIMCTL_KEY: key };
  expect(await json("init", env)).toMatchObject({ created: true, key_file: null });
  expect(await json("init", env)).toMatchObject({ created: false, key_file: null });
  if (!onPostgres) expect(readdirSync(data).filter((name) => name.includes("key"))).toEqual([]);
  expect(await json("partners create acme --name Acme", env)).toMatchObject({ slug: "acme" });
  const doctor = await run("doctor", env);
  expect(doctor.exitCode).toBe(0);
  expect(findingsOf(doctor)).toContainEqual(
    expect.objectContaining({ check: "key_source", message: "The master key comes from ESIMCTL_KEY." }),
  );
  // The same key as a credential of the service manager.
  const asCredential = credential(folder, key);
  expect(await json("partners list", asCredential)).toMatchObject({ count: 1 });
  expect(await json("partners list", { ...env, ...asCredential })).toMatchObject({ count: 1 });
  expect(await json("audit verify", asCredential)).toMatchObject({ ok: true });

  const bare = await run("partners list", {});
  expect([bare.exitCode, errorOf(bare).message]).toEqual(
    onPostgres ? [2, expect.stringContaining("key file")] : [1, expect.stringMatching(/key file .* is missing/)],
  );
  const wrong = await run("partners list", { ESIMCTL_KEY: newKey() });
  expect([wrong.exitCode, errorOf(wrong).message]).toEqual([1, "The master key does not belong to this database."]);
  const invalid = await run("partners list", { ESIMCTL_KEY: key.slice(0, -1) });
  expect([invalid.exitCode, errorOf(invalid).message]).toEqual([1, "ESIMCTL_KEY is not an esimctl key."]);
  for (const { stdout, stderr } of [doctor, wrong, invalid]) expect(stdout + stderr).not.toContain(key.slice(15, -1));
});

test("two different keys are refused, and doctor names the right one", async () => {
  const { folder, data, keyFile, run, json } = await emptyPlace();
  const [key, other] = [newKey(), newKey()];
  await json("init", { ESIMCTL_KEY: key });
  const both = { ESIMCTL_KEY: other, ...credential(folder, key) };
  const name = `${Object(both).CREDENTIALS_DIRECTORY}/esimctl.key`;
  const refused = await run("partners list", both);
  expect([refused.exitCode, errorOf(refused)]).toMatchObject([
    1,
    { message: `ESIMCTL_KEY and ${name} hold different keys.`, hint: expect.stringContaining("doctor") },
  ]);
  const doctor = await run("doctor", both);
  expect(doctor.exitCode).toBe(1);
  expect(findingsOf(doctor)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ check: "key_file", level: "fault" }),
      expect.objectContaining({ level: "fault", message: "ESIMCTL_KEY does not open the data keys." }),
      expect.objectContaining({ level: "ok", message: `${name} opens the data keys.` }),
    ]),
  );
  if (onPostgres) return;
  writeFileSync(keyFile, `${other}\n`, { mode: 0o600 });
  const beside = await run("partners list", { ESIMCTL_KEY: key });
  expect(errorOf(beside).message).toBe(`${keyFile} and ESIMCTL_KEY hold different keys.`);
  writeFileSync(keyFile, `${key}\n`);
  expect(findingsOf(await run("doctor", { ESIMCTL_KEY: key }))).toContainEqual(
    expect.objectContaining({ check: "key_source", level: "warning", message: expect.stringContaining(data) }),
  );
});

test("keys rotate master accepts a new key that is kept outside, and never prints one", async () => {
  const { folder, run, json } = await emptyPlace();
  const [old, next, last] = [newKey(), newKey(), newKey()];
  await json("init", { ESIMCTL_KEY: old });
  const unasked = await run("keys rotate master", { ESIMCTL_KEY: old });
  expect([unasked.exitCode, errorOf(unasked)]).toMatchObject([
    2,
    { message: expect.stringContaining("ESIMCTL_KEY"), hint: expect.stringContaining("--new-key") },
  ]);
  const file = join(folder, "next.key");
  writeFileSync(file, next, { mode: 0o600 });
  const rotated = await run(`keys rotate master --new-key ${file}`, { ESIMCTL_KEY: old });
  expect(JSON.parse(rotated.stdout)).toEqual({ key_file: null, old_key_file: null });
  expect(rotated.stdout + rotated.stderr).not.toContain(next.slice(15));
  expect((await run("partners list", { ESIMCTL_KEY: old })).exitCode).toBe(1);
  const again = await run(`keys rotate master --new-key ${file}`, { ESIMCTL_KEY: next });
  expect([again.exitCode, errorOf(again).message]).toEqual([1, expect.stringContaining("which is in use")]);
  expect((await run("keys rotate master --new-key -", { ESIMCTL_KEY: next }, `${last}\n`)).exitCode).toBe(0);
  expect(await json("doctor", { ESIMCTL_KEY: last })).toMatchObject({ ok: true });
  expect((await run("keys rotate data --new-key x", { ESIMCTL_KEY: last })).exitCode).toBe(2);
});

describe.skipIf(onPostgres)("a data directory", () => {
  test("whose daemon has its key from ESIMCTL_KEY keeps serving while the key is rotated", {
    tags: ["slow"],
  }, async () => {
    const folder = temporaryDirectory();
    const shop = await openShop({ folder, stock: { EU5: 1 }, priceCents: 1, fundsCents: 100 });
    const keyFile = join(shop.data, "esimctl.key");
    const [old, next] = [newKey(), newKey()];
    const [oldFile, nextFile] = ["old.key", "next.key"].map((name) => join(folder, name));
    writeFileSync(oldFile ?? "", old);
    writeFileSync(nextFile ?? "", next);
    const json = async (line: string, env = {}) =>
      Object(await esimctlJson([...line.split(" "), "--data", shop.data], { env }));
    // The key file is moved out of the directory.
    const moved = await json(`keys rotate master --new-key ${oldFile}`);
    expect(moved).toEqual({ key_file: null, old_key_file: expect.stringContaining("esimctl.key.until-") });
    expect(existsSync(keyFile)).toBe(false);

    const daemon = await startDaemon({ data: shop.data, flags: ["--workers", "2"], env: { ESIMCTL_KEY: old } });
    expect((await requestToken(shop, daemon.url)).status).toBe(200);
    await json(`keys rotate master --new-key ${nextFile}`, { ESIMCTL_KEY: old });
    await json("partners create other --name Other", { ESIMCTL_KEY: next });
    for (let asked = 0; asked < 4; asked++) expect((await requestToken(shop, daemon.url)).status).toBe(200);
    expect((await daemon.stop()).exitCode).toBe(0);
    expect(daemon.text()).not.toContain(old.slice(15));
    expect(readFileSync(join(shop.data, "logs", "serve.log"), "utf8")).not.toMatch(/esimctl-key-v1|"level":"error"/);
    expect(await json("doctor", { ESIMCTL_KEY: next })).toMatchObject({ ok: true });
  });

  test("backs up without a key that is kept outside, and is restored with it", async () => {
    const { folder, run, json } = await emptyPlace();
    const env = { ESIMCTL_KEY: newKey() };
    await json("init", env);
    await json("partners create acme --name Acme", env);
    const file = join(folder, "one.backup");
    expect(await json(`backup ${file}`, env)).toMatchObject({ holds_key: false });
    expect(readFileSync(file).includes("esimctl-key-v1")).toBe(false);
    const checks = Object(await esimctlJson(["verify-backup", file], { env })).findings;
    expect(checks.every(({ level }: { level: string }) => level === "ok")).toBe(true);

    const restored = join(folder, "restored");
    await esimctlJson(["restore", file, "--data", restored], { env });
    expect(existsSync(join(restored, "esimctl.key"))).toBe(false);
    expect(await esimctlJson(["partners", "list", "--data", restored], { env })).toMatchObject({ count: 1 });
    const wrong = await esimctl(["restore", file, "--data", join(folder, "not"), "--json"], {
      env: { ESIMCTL_KEY: newKey() },
    });
    expect([wrong.exitCode, errorOf(wrong).message]).toEqual([1, expect.stringMatching(/does not belong/)]);
    const kept = join(folder, "kept.key");
    writeFileSync(kept, `${newKey()}\n`);
    const differs = await run(`restore ${file} --force --yes --key-file ${kept}`, env);
    expect(errorOf(differs).message).toBe(`${kept} and ESIMCTL_KEY hold different keys.`);
    expect(existsSync(join(folder, "not"))).toBe(false);
  });
});
