/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { luhnDigit } from "../../src/core/kernel/check-digits.ts";
import { type Hand, modes, openHand, startBrowser } from "../support/browser.ts";
import { dayAfter, orderBySku, submitActivations } from "../support/demo-content.ts";
import { type DemoPages, startDemoPages } from "../support/demo-pages.ts";
import { eventually } from "../support/hangs.ts";
import { forAllTests } from "../support/owner.ts";
import { PASSWORD } from "../support/pages.ts";
import { temporaryDirectory } from "../support/store.ts";

const browser = forAllTests(startBrowser);

/** The time for which a second factor that was given counts, and a little more. */
const STALE_MS = 11 * 60_000;

test.each(modes)("the day of support, %s", async (mode) => {
  const demo = await startDemoPages();
  const program = await demo.program();
  // The clock goes on, possibly past midnight: what is a day from now is said once.
  const [day, later] = [dayAfter(demo, 40), dayAfter(demo, 42)];
  const requests = await submitActivations(demo, program, 30, "Underwold");
  const [refused] = requests;
  await program.send(`/activations/${refused?.id}/cancel`, {});
  const hand = await openHand(browser(), demo.url, mode);
  const { id, code } = await enter(hand, demo, { name: "Sam Ferris", role: "support", more: ["--reveal"] });

  await moveAll(hand, refused?.iccid ?? "");
  const dates = (await program.get("/activations?limit=100")).data.map((one: Dated) => one.activation_date);
  expect(new Set(dates)).toEqual(new Set([day, later]));
  expect(dates.filter((date: string) => date === later)).toHaveLength(29);

  const [, moved] = requests;
  await reveal(hand, demo, { iccid: moved?.iccid ?? "", code });
  const { data } = await demo.operator("audit", "list", "--target", moved?.id ?? "");
  expect(data.map(({ action, actor }: Acted) => [action, actor])).toContainEqual(["activations.reveal", `user:${id}`]);
  expect([...hand.faults, ...hand.complaints]).toEqual([]);
});

test.each(modes)("the day of an admin, %s", async (mode) => {
  const demo = await startDemoPages();
  const program = await demo.program();
  const { order_number } = await orderBySku(program, "ES-KR-5GB-10D");
  await eventually(
    async () => (await program.get("/orders")).data[0].status,
    (status) => status === "waiting_review",
  );
  const { reference } = await program.send("/wallet/funding-requests", { amount_cents: 150_000, currency: "AUD" });
  await demo.operator("stock", "import", stockFile(2), "--sku", "ES-KR-5GB-10D");
  const hand = await openHand(browser(), demo.url, mode);
  const { id } = await enter(hand, demo, { name: "Ada Lind", role: "admin" });

  await approve(hand, order_number);
  await credit(hand, reference);
  await suspend(hand);
  await readTrail(hand, { id, reference });
  await readLog(hand);
  expect([...hand.faults, ...hand.complaints]).toEqual([]);
});

interface Dated {
  activation_date: string;
}

interface Acted {
  action: string;
  actor: string;
}

interface Staff {
  name: string;
  role: string;
  more?: string[];
}

/** Takes an invitation, with an authenticator app, which staff must have. */
async function enter(hand: Hand, demo: DemoPages, { name, role, more = [] }: Staff) {
  const { link, user } = await demo.operator("users", "invite", `${role}@staff.example`, "--role", role, ...more);
  await hand.open(new URL(link).pathname);
  await hand.fill("Your name", name);
  await hand.fill("Password", PASSWORD);
  await hand.send("Create the account");
  expect(await hand.text()).toContain("You must have a second factor.");
  await hand.send("Set up an authenticator app");
  const [, secret = ""] = /otpauth:\S*[?&]secret=([A-Z2-7]+)/.exec(await hand.text()) ?? [];
  const code = demo.app(secret);
  await hand.fill("Code", code());
  await hand.send("Confirm");
  await hand.follow("Continue");
  expect(await hand.text()).toMatch(/^Today/);
  return { id: String(user.id), code };
}

/** Searches by surname, and moves all that is found by two days, of which one is refused. */
async function moveAll(hand: Hand, refused: string): Promise<void> {
  await hand.follow("Activations");
  await hand.fill("Customer", "Underwold");
  await hand.send("Search");
  const rows = hand.page.locator("tbody tr");
  expect(await rows.count()).toBe(30);
  if (hand.hasScripts) await hand.tick(hand.page.getByLabel("Choose all rows"));
  else for (const box of await rows.locator("input[type=checkbox]").all()) await hand.tick(box);
  await hand.fill("Days later", "2");
  await hand.send("Move");
  expect(await hand.text()).toMatch(/^Move 29 activations\? 1 request refused: they stay as they are/);
  expect(await rows.count()).toBe(30);
  expect(await rows.filter({ hasText: refused }).innerText()).toContain("only a pending request can be changed");
  await hand.send("Move 29 activations");
  expect(await hand.text()).toMatch(/^29 requests moved\./);
}

/** Reveals an identity, for which the second factor is asked again. */
async function reveal(hand: Hand, demo: DemoPages, { iccid, code }: { iccid: string; code: () => string }) {
  await hand.follow(iccid);
  expect(await hand.text()).toMatch(/Passport ••••••075/);
  demo.later(STALE_MS);
  await hand.send("Reveal the identity");
  expect(await hand.text()).toMatch(/^Confirm that it is you/);
  await hand.fill("Code", code());
  await hand.send("Confirm");
  expect(await hand.text()).toMatch(/Underwold.* QX8342075 .*The audit trail has that you saw it\./);
}

async function approve(hand: Hand, number: string): Promise<void> {
  await hand.follow("Orders to review");
  await hand.follow(number);
  await hand.follow("Approve");
  expect(await hand.text()).toContain("waiting review → fulfilled");
  await hand.send("Approve");
  expect(await hand.text()).toContain(`${number} is approved.`);
}

async function credit(hand: Hand, reference: string): Promise<void> {
  await hand.follow("Today");
  await hand.follow("Payments to credit");
  await hand.follow(reference);
  await hand.fill("Amount at the bank", "1499.00");
  await hand.send("Credit the payment");
  expect(await hand.text()).toContain(`${reference} announced 1500.00 AUD`);
  await hand.fill("Amount at the bank", "1500.00");
  await hand.send("Credit the payment");
  expect(await hand.text()).toContain("1,500.00 AUD is credited to demo");
}

async function suspend(hand: Hand): Promise<void> {
  await hand.follow("Partners");
  await hand.follow("demo");
  await hand.fill("Reason", "Invoices are open");
  await hand.send("Suspend the partner");
  expect(await hand.text()).toContain("Its tokens stop working at once");
  await hand.send("Suspend the partner");
  expect(await hand.text()).toContain("demo is suspended.");
}

/** Finds all that was done under one's own name. */
async function readTrail(hand: Hand, { id, reference }: { id: string; reference: string }): Promise<void> {
  await hand.follow("Platform");
  await hand.follow("Audit trail");
  await hand.fill("Who (begins with)", `user:${id}`);
  // With a script the list follows what is typed.
  if (!hand.hasScripts) await hand.send("Filter");
  const rows = hand.page.locator("tbody tr");
  const lines = await eventually(
    () => rows.allInnerTexts(),
    (found) => found.length > 0 && found.every((line) => line.includes(id)),
  );
  const own = lines.filter((line) => line.includes(`Ada Lind, user:${id}`)).join("\n");
  for (const act of ["orders.approve", "funding.credit", reference, "partners.suspend"]) expect(own).toContain(act);
}

/** From the newest act to what the daemon logged of its request. */
async function readLog(hand: Hand): Promise<void> {
  await hand.follow(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(await hand.text()).toContain("partners.suspend");
  await hand.follow("Lines of the log");
  await hand.until(/POST \/console\/partners\/:slug\/suspend 303 in [\d.]+ ms/);
}

/** eSIMs that a supplier has sent as a file. */
function stockFile(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const digits = `894410${String(700_000 + at).padStart(12, "0")}`;
    return `${digits}${luhnDigit(digits)},smdp.example.net,MATCH-KR-${at}`;
  });
  const path = join(temporaryDirectory(), "stock.csv");
  writeFileSync(path, ["iccid,smdp_address,matching_id", ...lines, ""].join("\n"));
  return path;
}
