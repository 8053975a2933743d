import { expect, onTestFinished, test } from "vitest";
import { sendToTraveler } from "../src/core/after-sale/send-to-traveler.ts";
import { claimTravelerMails, recordTravelerMailed } from "../src/core/after-sale/traveler-mail-queue.ts";
import { listAudit } from "../src/core/audit/list.ts";
import { rotateAndReseal } from "../src/core/credentials/rotate-keys.ts";
import { erasePerson } from "../src/core/erasure/erase.ts";
import { personOf } from "../src/core/erasure/person.ts";
import { surveyPerson } from "../src/core/erasure/survey.ts";
import { expireDueEsims } from "../src/core/esims/expire.ts";
import { activateEsim } from "../src/core/esims/life.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createTravelerMails } from "../src/daemon/workers/traveler-mails.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { startDaemon, targetOf } from "./support/daemon.ts";
import { inSnapshot } from "./support/database.ts";
import { sandboxEsimPage } from "./support/esims.ts";
import { eventually } from "./support/hangs.ts";
import { person, startPages } from "./support/pages.ts";
import type { PlatformOptions } from "./support/platform.ts";
import { create, createBulk, customer, lines } from "./support/quotes.ts";
import { openShop } from "./support/shop.ts";
import { smtpServer } from "./support/smtp.ts";
import { freshUrl, temporaryDirectory } from "./support/store.ts";
import type { Visitor } from "./support/visitor.ts";
import { esimctlJson } from "./support/warm.ts";

const HOUR = 3_600_000;

/** A partner with two sold eSIMs, the second of an order that names its customer; a mail server, and nodes. */
async function selling(options: PlatformOptions = {}) {
  const [platform, smtp] = [await startPages(options), await smtpServer()];
  const { store, clock, location, url: publicUrl } = platform;
  const acme = await platform.caller({ slug: "acme", name: "Acme", live: true });
  await platform.fund(acme.partnerId, 10_000);
  const { EU } = await addProducts(store, [{ sku: "EU", name: "Europe 5 GB", price_cents: 100, validity_days: 1 }]);
  await addStock(store, "EU", 2);
  const plain = await create(acme, lines([EU, 1]));
  await platform.fulfill();
  const named = await createBulk(acme, [{ external_order_id: "a", customer, ...lines([EU, 1]) }]);
  await platform.fulfill();
  const ids = [plain.body.id, named.body.results[0].service_order_id];
  const bought = await Promise.all(ids.map((id) => acme.get(`/api/v1/orders/${id}/esims`)));
  const [one, two] = bought.map(({ body }) => body.esims[0]);
  const logged: unknown[] = [];
  const log = { error: (...words: unknown[]) => logged.push(words), warn: (...words: unknown[]) => logged.push(words) };
  const node = (smtpUrl: string | null, alone = false) => {
    const mailer = smtpUrl === null ? null : createMailer(smtpUrl);
    onTestFinished(() => mailer?.close());
    const step = createTravelerMails({ store, clock, log, mailer, publicUrl, alone });
    return () => step(new AbortController().signal);
  };
  const agent = await person(platform, { partner: "acme", role: "agent" });
  const rows = () => inSnapshot(location, (find) => find("SELECT * FROM traveler_mails ORDER BY id"));
  return { ...platform, smtp, logged, node, step: node(smtp.url), agent, rows, acme, one, two };
}

/** Fills in the form of an eSIM and confirms what is shown. */
async function sendTo(who: Visitor, iccid: string, typed: Record<string, string>, face = "portal") {
  const shown = await who.send(await who.get(`/${face}/esims/${iccid}/send`), typed, "/send");
  return { shown, done: shown.status < 400 ? await who.send(shown, {}, "/send") : shown };
}

const words = ({ text }: { text: string }) => text.replaceAll("=\r\n", "").replaceAll("=3D", "=");

test("an agent sends an eSIM to an address: once, over a refusal, and the page says by whom and when", async () => {
  const { agent, one, smtp, step, node, rows, logged, clock, store } = await selling();
  const at = `/portal/esims/${one.iccid}`;
  expect((await agent.get(at)).page.querySelector(`a[href="${at}/send"]`)?.text).toBe("Send to the traveler");
  const { shown, done } = await sendTo(agent, one.iccid, { address: "Mia.Traveler@example.com" });
  expect(shown.text).toContain("Europe 5 GB goes to Mia.Traveler@example.com");
  expect(await agent.send(shown, {}, "/send")).toMatchObject({ text: expect.stringContaining("sent before") });
  expect(done.path).toBe(at);
  expect(done.text).toMatch(/M•••@… ?waiting.*Pat agent/);
  smtp.state.refuse = true;
  await step();
  expect((await agent.get(at)).text).toContain("the mail server answered 451");
  expect(await rows()).toMatchObject([{ status: "waiting", address_sealed: expect.stringMatching(/^v2\./) }]);
  smtp.state.refuse = false;
  clock.advance(9_999);
  await step();
  expect(smtp.mails).toEqual([]);
  clock.advance(1);
  await Promise.all([step(), node(smtp.url)()]);
  clock.advance(HOUR);
  await step();

  expect(smtp.mails).toMatchObject([{ to: ["Mia.Traveler@example.com"] }]);
  const [mail = { text: "" }] = smtp.mails;
  expect(words(mail)).toMatch(/^Subject: Your eSIM: Europe 5 GB/m);
  expect(words(mail)).toMatch(/^Content-Type: text\/plain/m);
  expect(words(mail)).toContain("from Acme");
  expect(words(mail).split("\r\n")).toContain(one.install_url);
  for (const code of [one.activation_code, one.matching_id, one.smdp_address]) expect(words(mail)).not.toContain(code);
  expect((await agent.get(new URL(one.install_url).pathname)).status).toBe(200);
  const after = await agent.get(at);
  expect(after.text).toMatch(/M•••@… ?sent.*Pat agent/);
  expect(after.text).toMatch(/mail sent to the traveler \(M•••@…\)/);
  expect(after.text).toContain("sent to traveler, by Pat agent");
  expect(await rows()).toMatchObject([{ status: "sent", address_sealed: null, due_at: null, leased_until: null }]);
  for (const text of [after.html, JSON.stringify([await rows(), logged])]) expect(text).not.toMatch(/mia\.traveler/i);
  const [line] = await store.read(listAudit, { target: one.id, limit: 1 });
  expect(line).toMatchObject({ action: "esims.send-to-traveler", actor: `user:${agent.id}` });
});

test("the customer of the order is offered masked, and mailed; both at once are refused", async () => {
  const { agent, two, smtp, step } = await selling();
  const form = await agent.get(`/portal/esims/${two.iccid}/send`);
  expect(form.text).toContain("the customer of the order (m•••@…)");
  const { shown } = await sendTo(agent, two.iccid, { to: "customer", address: "kim@example.com" });
  expect([shown.status, shown.text]).toEqual([400, expect.stringContaining("do one of them")]);
  const { done } = await sendTo(agent, two.iccid, { to: "customer" });
  expect(done.text).toContain("m•••@…, the customer of the order");
  await step();
  expect(smtp.mails).toMatchObject([{ to: [customer.email] }]);
  expect(form.html + done.html).not.toContain(customer.email);
});

test("a refusal for good ends a mail with its reason, and a temporary one after a day", async () => {
  const { agent, one, smtp, step, rows, clock } = await selling();
  smtp.state.refuse = 550;
  await sendTo(agent, one.iccid, { address: "none@example.com" });
  await step();
  expect(await rows()).toMatchObject([{ status: "not_sent", reason: "the mail server answered 550" }]);
  const page = await agent.get(`/portal/esims/${one.iccid}`);
  expect(page.text).toContain("could not be sent to the traveler (n•••@…): the mail server answered 550");
  smtp.state.refuse = true;
  await sendTo(agent, one.iccid, { address: "late@example.com" });
  for (let hour = 0; hour < 30; hour++) {
    await step();
    clock.advance(HOUR);
  }
  expect(await rows()).toMatchObject([{}, { status: "not_sent", reason: "the mail server answered 451" }]);
  smtp.state.refuse = false;
  await step();
  expect(smtp.mails).toEqual([]);
});

test("another node sends what one that died had, once its lease ends, and a late word changes nothing", async () => {
  const { one, smtp, step, store, clock, rows } = await selling();
  const asked = { iccid: one.iccid, owner: null, to: "mia@example.com", actor: "test" };
  await store.write(sendToTraveler, asked);
  const [lease] = await store.write(claimTravelerMails, null);
  if (lease === undefined) throw new Error("nothing was claimed");
  clock.advance(59_999);
  await step();
  expect(smtp.mails).toEqual([]);
  clock.advance(1);
  await step();
  expect(smtp.mails).toHaveLength(1);
  await store.write(recordTravelerMailed, { lease, fault: { reason: "late", final: true } });
  expect(await rows()).toMatchObject([{ status: "sent", reason: null }]);
});

test("an eSIM is sent five times a day, and not once it has ended, also while a mail waits", async () => {
  const platform = await selling();
  const { agent, one, two, smtp, step, store, clock, rows } = platform;
  for (let no = 0; no < 5; no++) await sendTo(agent, one.iccid, { address: `t${no}@example.com` });
  const { shown } = await sendTo(agent, one.iccid, { address: "t5@example.com" });
  expect([shown.status, shown.text]).toEqual([409, expect.stringContaining("was sent 5 times within a day")]);
  clock.advance(24 * HOUR);
  const send = (iccid: string, to: string | null) =>
    store.write(sendToTraveler, { iccid, owner: null, to, actor: "test" });
  expect(await send(one.iccid, "t5@example.com")).toMatchObject({ status: "waiting" });
  await store.write(activateEsim, { iccid: two.iccid, actor: "test" });
  await send(two.iccid, null);
  clock.advance(25 * HOUR);
  await store.write(expireDueEsims, null);
  await step();
  expect((await rows()).at(-1)).toMatchObject({ status: "not_sent", reason: "The eSIM has ended." });
  expect(smtp.mails.flatMap(({ to }) => to)).not.toContain(customer.email);
  const later = await person(platform, { partner: "acme", role: "agent" });
  const page = await later.get(`/portal/esims/${two.iccid}`);
  expect(page.page.querySelector('a[href$="/send"]')).toBeNull();
  expect((await later.get(`/portal/esims/${two.iccid}/send`)).text).toContain("The eSIM has ended.");
});

test("viewers may not, others' eSIMs are not found, no mailbox is refused, the sandbox sends none", async () => {
  const platform = await selling();
  const { agent, one } = platform;
  const at = `/portal/esims/${one.iccid}`;
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  expect((await viewer.get(at)).text).not.toContain("Send to the traveler");
  expect((await viewer.get(`${at}/send`)).status).toBe(403);
  await platform.caller({ slug: "beta", live: true });
  const other = await person(platform, { partner: "beta", role: "owner" });
  for (const iccid of [one.iccid, "12"]) expect((await other.get(`/portal/esims/${iccid}/send`)).status).toBe(404);
  for (const address of ["mia", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example", ""]) {
    expect((await sendTo(agent, one.iccid, { address })).shown.status, address).toBe(400);
  }
  const there = await sandboxEsimPage(platform, "acme", agent);
  for (const path of [there, `${there}/send`]) {
    const page = await agent.get(path);
    expect(page.text).toContain("In the sandbox no mail goes out; open the link.");
    expect(page.page.querySelector("input[name=address]")).toBeNull();
  }
});

test("without a mail server the page offers no form, and what waits ends with the reason", async () => {
  const { agent, two, node, rows, clock, store } = await selling({ mail: "none" });
  const page = await agent.get(`/portal/esims/${two.iccid}/send`);
  expect(page.text).toContain("No mail server is set here");
  expect(page.page.querySelector("input[name=address]")).toBeNull();
  const asked = { iccid: two.iccid, owner: null, to: "mia@example.com", actor: "test" };
  await store.write(sendToTraveler, asked);
  const without = node(null);
  await without();
  expect(await rows()).toMatchObject([{ status: "waiting" }]);
  clock.advance(60_000);
  await without();
  const ended = { status: "not_sent", reason: "no mail server is set", address_sealed: null };
  expect(await rows()).toMatchObject([ended]);
  await store.write(sendToTraveler, asked);
  await node(null, true)();
  expect(await rows()).toMatchObject([ended, ended]);
});

test("where another node may have a mail server the form says so", async () => {
  const { agent, one } = await selling({ mail: "perhaps" });
  const form = await agent.get(`/portal/esims/${one.iccid}/send`);
  expect(form.text).toContain("This node sends no mail.");
  expect(form.page.querySelector("input[name=address]")).not.toBeNull();
});

test("a waiting address outlasts a rotation of keys, and is erased with its person", async () => {
  const { one, two, store, rows, step, smtp } = await selling();
  const send = (iccid: string, to: string) => store.write(sendToTraveler, { iccid, owner: null, to, actor: "test" });
  await send(one.iccid, "mia@example.com");
  const [before] = await rows();
  expect(await rotateAndReseal(store, { actor: "operator", rest: async () => undefined })).toMatchObject({
    finished: true,
  });
  expect((await rows())[0]?.address_sealed).not.toBe(before?.address_sealed);
  await send(two.iccid, "kim@example.com");
  const who = personOf({ email: "KIM@example.com" });
  const found = await surveyPerson(store, who);
  expect(found).toMatchObject([{ kind: "traveler_mail", state: "erasable", fields: ["address"] }]);
  expect(await erasePerson(store, { person: who, found, actor: "test" })).toHaveLength(1);
  expect(await surveyPerson(store, who)).toEqual([]);
  await step();
  expect(smtp.mails.flatMap(({ to }) => to)).toEqual(["mia@example.com"]);
  expect(await rows()).toMatchObject([
    { status: "sent" },
    { status: "not_sent", reason: "the address was erased", address_sealed: null },
  ]);
});

test("support sends it in the console, and its timeline has the mail", async () => {
  const platform = await selling();
  const support = await person(platform, { role: "support" });
  const { done } = await sendTo(support, platform.two.iccid, { to: "customer" }, "console");
  expect(done.text).toMatch(/m•••@…, the customer of the order ?waiting.*Pat support/);
  await platform.step();
  expect((await support.get(`/console/esims/${platform.two.iccid}`)).text).toContain("sent to the traveler (m•••@…)");
  expect((await platform.agent.get(`/portal/esims/${platform.two.iccid}`)).text).toContain("the operator");
  const viewer = await person(platform, { role: "viewer" });
  expect((await viewer.get(`/console/esims/${platform.two.iccid}/send`)).status).toBe(403);
});

test("serve mails what the terminal sends, and its log has no address", { tags: ["slow"] }, async () => {
  const smtp = await smtpServer();
  const url = await freshUrl();
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url, stock: { EU5: 1 }, priceCents: 1, fundsCents: 10 });
  const daemon = await startDaemon({ ...shop.served, flags: ["--smtp-url", smtp.url] });
  const { args, env } = targetOf(shop.served);
  const run = async (line: string) => Object(await esimctlJson([...line.split(" "), ...args], { env }));
  const { id } = await run("orders create --product EU5 --quantity 1 --partner acme");
  const order = await eventually(
    () => run(`orders show ${id}`),
    ({ status }) => status === "fulfilled",
  );
  await run(`esims send ${order.order_number} --to mia@example.com`);
  await eventually(
    () => smtp.mails,
    ({ length }) => length > 0,
  );
  expect(smtp.mails).toMatchObject([{ to: ["mia@example.com"], text: expect.stringContaining("/install/") }]);
  await eventually(
    () => run(`find ${order.order_number}`),
    (found) => JSON.stringify(found).includes("sent to the traveler (m•••@…)"),
  );
  const ended = await daemon.stop();
  expect(`${daemon.text()}${ended.stdout}${ended.stderr}`).not.toContain("mia@");
});
