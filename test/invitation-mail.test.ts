import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acceptInvitation } from "../src/core/accounts/accept-invitation.ts";
import { disableUser, removeFromPartner } from "../src/core/accounts/change-user.ts";
import { type Invited, inviteUser, resetUser } from "../src/core/accounts/invite.ts";
import { rotateAndReseal } from "../src/core/credentials/rotate-keys.ts";
import type { PartnerId } from "../src/core/kernel/brand.ts";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import { recordBeat } from "../src/core/platform/serving.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createInvitationMails } from "../src/daemon/workers/invitations.ts";
import { startDaemon, targetOf } from "./support/daemon.ts";
import { inSnapshot, locationOf } from "./support/database.ts";
import { eventually } from "./support/hangs.ts";
import { person, startPages } from "./support/pages.ts";
import { openShop } from "./support/shop.ts";
import { smtpServer } from "./support/smtp.ts";
import { freshUrl, onPostgres, runStatements, temporaryDirectory } from "./support/store.ts";
import { visitor } from "./support/visitor.ts";
import { esimctlJson } from "./support/warm.ts";

const HOUR = 3_600_000;
const actor = "test";

/** A platform, its mail server, and the step that mails invitations, by as many nodes as are asked for. */
async function mailing() {
  const [platform, smtp] = [await startPages(), await smtpServer()];
  const { store, clock, location, url: publicUrl } = platform;
  const logged: unknown[] = [];
  const log = { error: (...words: unknown[]) => logged.push(words), warn: (...words: unknown[]) => logged.push(words) };
  const node = (smtpUrl: string | null, alone = false) => {
    const mailer = smtpUrl === null ? null : createMailer(smtpUrl);
    onTestFinished(() => mailer?.close());
    const step = createInvitationMails({ store, clock, log, mailer, publicUrl, alone });
    return () => step(new AbortController().signal);
  };
  const { partnerId } = await platform.caller({ slug: "acme", name: "Acme\r\nBcc: all@acme.example" });
  const invite = (email: string, at: PartnerId | null = partnerId) =>
    store.write(inviteUser, { email, role: at === null ? "viewer" : "agent", partnerId: at, actor });
  const rows = () => inSnapshot(location, (find) => find("SELECT * FROM invitations ORDER BY id"));
  return { ...platform, partnerId, smtp, logged, node, step: node(smtp.url), invite, rows };
}

/** A mail's text as it was written: lines that were too long are whole again. */
const textOf = ({ text }: { text: string }) => text.replaceAll("=\r\n", "").replaceAll("=3D", "=");

const linkIn = (mail: { text: string }) => /^https?:\S+\/invitations\/\S+$/m.exec(textOf(mail))?.[0] ?? "";

test("an invitation is mailed once over a refusal, is not logged, and leaves its hash alone", async () => {
  const { smtp, step, node, invite, rows, logged, clock, url, location } = await mailing();
  const { token, expires_at } = await invite("max@acme.example");
  smtp.state.refuse = true;
  await step();
  expect([smtp.mails.length, logged.length]).toEqual([0, 1]);
  expect(await rows()).toMatchObject([{ token_sealed: expect.stringMatching(/^v2\./), failed_attempts: 1 }]);
  smtp.state.refuse = false;
  clock.advance(9_000);
  await step();
  expect(smtp.mails).toHaveLength(0);
  clock.advance(1_000);
  const other = node(smtp.url);
  await Promise.all([step(), other()]);
  await step();
  clock.advance(HOUR);
  await other();

  expect(smtp.mails).toMatchObject([{ to: ["max@acme.example"] }]);
  const [mail = { text: "" }] = smtp.mails;
  expect(linkIn(mail)).toBe(`${url}/portal/invitations/${token}`);
  const text = textOf(mail);
  expect(text).toContain(`at ${url}.`);
  expect(text).toContain(`until ${expires_at.slice(0, 16).replace("T", " ")} UTC`);
  expect(text).toMatch(/^Subject: You are invited to the portal of Acme/m);
  expect(text).toMatch(/^Content-Type: text\/plain/m);
  expect(text).not.toMatch(/^Bcc:/m);
  const form = await visitor(url).get(new URL(linkIn(mail)).pathname);
  expect(form.status).toBe(200);

  const kept = await rows();
  expect(kept).toMatchObject([
    { token_sealed: null, due_at: null, leased_until: null, token_hash: expect.any(String) },
  ]);
  expect(JSON.stringify([kept, logged])).not.toContain(token);
  expect(JSON.stringify(logged)).not.toContain("max@");
  if ("file" in location) {
    const folder = dirname(location.file);
    for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes(token), name).toBe(false);
  }
});

test("a reset is mailed as such, also to staff, and one with a password is asked for it", async () => {
  const platform = await mailing();
  const { smtp, step, store, invite, partnerId, url } = platform;
  const ada = await person(platform, { role: "admin", email: "ada@example.com" });
  await person(platform, { role: "admin", email: "eve@example.com" });
  const reset: Invited = await store.write(resetUser, { userId: ada.id, partnerId: null, actor });
  await step();
  const [mail = { text: "" }] = smtp.mails;
  expect(linkIn(mail)).toBe(`${url}/console/invitations/${reset.token}`);
  expect(textOf(mail)).toContain("were removed");
  expect(textOf(mail)).not.toContain("eve@");

  await platform.caller({ slug: "beta" });
  await person(platform, { partner: "beta", role: "owner", email: "olga@beta.example" });
  await invite("olga@beta.example", partnerId);
  await step();
  expect(smtp.mails).toHaveLength(2);
  expect(textOf(smtp.mails[1] ?? mail)).toContain("accept with the password that you have here");
});

test("nothing is mailed of an invitation that has expired, was used or was ended, and its token goes", async () => {
  const platform = await mailing();
  const { smtp, step, store, invite, rows, clock, partnerId } = platform;
  const used = await invite("used@acme.example");
  await store.write(acceptInvitation, { token: used.token, name: "Uma", passwordHash: "x" });
  const { user: disabled } = await invite("disabled@acme.example");
  await store.write(disableUser, { userId: disabled.id, partnerId, actor });
  await platform.caller({ slug: "beta" });
  await person(platform, { partner: "beta", role: "owner", email: "removed@beta.example" });
  const { user: removed } = await invite("removed@beta.example");
  await store.write(removeFromPartner, { userId: removed.id, partnerId, actor });
  expect(await rows()).toEqual([]);
  smtp.state.refuse = true;
  await invite("late@acme.example");
  await step();
  expect(await rows()).toMatchObject([{ failed_attempts: 1 }]);
  smtp.state.refuse = false;
  clock.advance(72 * HOUR);
  await step();
  expect(await rows()).toEqual([]);
  expect(smtp.mails).toEqual([]);
});

test("without a mail server no token waits: at once where no other node can serve, else a minute later", async () => {
  const { node, invite, rows, clock, smtp, store, step } = await mailing();
  const [without, alone] = [node(null), node(null, true)];
  await invite("max@acme.example");
  await without();
  expect(await rows()).toMatchObject([{ token_sealed: expect.any(String) }]);
  await alone();
  expect(await rows()).toMatchObject([{ token_sealed: null, due_at: null }]);
  await invite("kim@acme.example");
  clock.advance(61_000);
  await without();
  expect(await rows()).toMatchObject([{ token_sealed: null }, { token_sealed: null }]);
  await step();
  expect(smtp.mails).toEqual([]);
  // The link itself holds.
  const { token } = await invite("uma@acme.example");
  await alone();
  await store.write(acceptInvitation, { token, name: "Uma", passwordHash: "x" });
});

test("a mail is left to a node that sends mail, however long that takes, until it serves no more", async () => {
  const { node, invite, clock, smtp, store, step } = await mailing();
  const without = node(null);
  const sending = { node: "other", url: "http://other.test", alone: false, since: clock.now(), sendsMail: true };
  await invite("eva@acme.example");
  clock.advance(61_000);
  await store.write(recordBeat, sending);
  await without();
  await step();
  expect(smtp.mails).toHaveLength(1);
  await invite("joe@acme.example");
  clock.advance(61_000);
  await without();
  await step();
  expect(smtp.mails).toHaveLength(1);
});

test("a mail that waits outlasts a rotation of the data key, and an unreadable token stops no other", async () => {
  const { step, store, invite, rows, location, smtp, logged } = await mailing();
  const { token } = await invite("max@acme.example");
  const [before] = await rows();
  const rotated = await rotateAndReseal(store, { actor: "operator", rest: async () => undefined });
  expect(rotated).toMatchObject({ finished: true });
  expect((await rows())[0]?.token_sealed).not.toBe(before?.token_sealed);
  await invite("kim@acme.example");
  const first = "SELECT token_sealed FROM invitations ORDER BY id LIMIT 1";
  await runStatements(location, [`UPDATE invitations SET token_sealed = (${first})`]);
  await step();
  expect(smtp.mails.map((mail) => linkIn(mail).slice(-43))).toEqual([token]);
  expect(logged).toMatchObject([[{ err: expect.objectContaining({ code: "unreadable" }) }, expect.any(String)]]);
});

test("serve mails what the terminal writes, and says nothing of it in its log", { tags: ["slow"] }, async () => {
  const smtp = await smtpServer();
  const url = await freshUrl();
  const shop = await openShop({ folder: temporaryDirectory(), url, stock: {}, priceCents: 1, fundsCents: 1 });
  const daemon = await startDaemon({ ...shop.served, flags: ["--smtp-url", smtp.url] });
  const { args, env } = targetOf(shop.served);
  const line = "users invite max@acme.example --partner acme --role owner".split(" ");
  const { link } = Object(await esimctlJson([...line, ...args], { env }));
  await eventually(
    () => smtp.mails,
    ({ length }) => length > 0,
  );
  expect(smtp.mails.map(linkIn)).toEqual([link]);
  const rows = () => inSnapshot(locationOf(shop.served), (find) => find("SELECT * FROM invitations"));
  await eventually(rows, ([row]) => row?.token_sealed === null);
  const ended = await daemon.stop();
  const token = link.slice(-43);
  expect(`${daemon.text()}${ended.stdout}${ended.stderr}`).not.toContain(token);
  if (onPostgres) return;
  const { logs } = dataDirectory(shop.data);
  const lines = readdirSync(logs).map((name) => readFileSync(join(logs, name), "utf8"));
  expect(lines.join("")).toContain("listening");
  expect(lines.join("")).not.toContain(token);
});

// Another node of PostgreSQL may have one: there it takes a minute.
test.skipIf(onPostgres)("serve without a mail server keeps no token", { tags: ["slow"] }, async () => {
  const url = await freshUrl();
  const shop = await openShop({ folder: temporaryDirectory(), url, stock: {}, priceCents: 1, fundsCents: 1 });
  const { args, env } = targetOf(shop.served);
  await esimctlJson(["users", "invite", "ada@example.com", "--role", "admin", ...args], { env });
  const rows = () => inSnapshot(locationOf(shop.served), (find) => find("SELECT * FROM invitations"));
  expect(await rows()).toMatchObject([{ token_sealed: expect.any(String) }]);
  await startDaemon(shop.served);
  await eventually(rows, ([row]) => row?.token_sealed === null);
});
