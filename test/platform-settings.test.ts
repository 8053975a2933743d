import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { refusedStart, startDaemon, targetOf } from "./support/daemon.ts";
import { openShop } from "./support/shop.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctlJson } from "./support/warm.ts";

async function served() {
  const url = onPostgres ? (await freshPostgres()).url : undefined;
  const shop = await openShop({ folder: temporaryDirectory(), url, stock: {}, priceCents: 1, fundsCents: 1 });
  return shop.served;
}

const at = (address: string) => ["--public-url", address];

test.runIf(onPostgres)("a node with other settings is refused, and may replace the settings", async () => {
  const place = await served();
  const first = await startDaemon({ ...place, flags: at("https://one.example") });
  const same = await startDaemon({ ...place, flags: at("https://one.example") });
  const refused = await refusedStart({ ...place, flags: [...at("https://two.example"), "--strict-eid", "--json"] });
  expect(refused.exitCode).toBe(1);
  const { error } = JSON.parse(refused.stdout);
  expect(error.code).toBe("settings_differ");
  expect(error.message).toContain('public_url is "https://one.example" and here "https://two.example"');
  expect(error.message).toContain('strict_eid is "no" and here "yes"');
  expect(error.message).not.toContain("allow_private_webhooks");
  expect(error.hint).toContain("--take-over-settings");
  const flags = [...at("https://two.example"), "--take-over-settings"];
  const taken = await startDaemon({ ...place, flags });
  expect(await taken.printed('"setting":"public_url"')).toContain("https://two.example");
  const late = await refusedStart({ ...place, flags: at("https://one.example") });
  expect(late.stderr).toContain("--take-over-settings");
  for (const node of [first, same, taken]) expect((await node.stop()).exitCode).toBe(0);
});

test.runIf(!onPostgres)(
  "the one daemon of a data directory changes settings by a restart, and reports it",
  { tags: ["slow"] },
  async () => {
    const place = await served();
    const first = await startDaemon({ ...place, flags: at("https://one.example") });
    expect((await first.stop()).stdout).not.toContain("setting_changed");
    const next = await startDaemon({ ...place, flags: at("https://two.example") });
    const line = JSON.parse(await next.printed("setting_changed"));
    expect(line).toMatchObject({ setting: "public_url", from: "https://one.example", to: "https://two.example" });
    expect((await next.stop()).exitCode).toBe(0);
  },
);

test("a start that cannot listen leaves the stored addresses as they are", async () => {
  const place = await served();
  const { args, env } = targetOf(place);
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const flags = at("https://two.example");
  for (const [start, words] of [
    [{ flags: [...flags, "--host", "nohost.invalid"] }, /nohost\.invalid is no address of this machine/],
    [{ flags, port }, /is taken by another process/],
    [{ flags: [...flags, "--metrics-port", String(port)] }, /is taken by another process/],
  ] as const) {
    const { exitCode, stderr } = await refusedStart({ ...place, ...start });
    expect(stderr).toMatch(words);
    expect(exitCode).toBe(1);
  }
  const invitation = ["users", "invite", "ada@example.com", "--role", "admin", ...args];
  expect(await esimctlJson(invitation, { env })).toMatchObject({
    link: expect.stringMatching(/^http:..127\.0\.0\.1:8080/),
  });
});
