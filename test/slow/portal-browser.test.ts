/** @module-tag slow */
import { expect, test } from "vitest";
import { type Hand, modes, openHand, startBrowser } from "../support/browser.ts";
import { type DemoPages, startDemoPages } from "../support/demo-pages.ts";
import { eventually } from "../support/hangs.ts";
import { forAllTests } from "../support/owner.ts";
import { PASSWORD } from "../support/pages.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

const browser = forAllTests(startBrowser);

const EMAIL = "mara@demo.example";

test.each(modes)("the day of an owner, %s", async (mode) => {
  const demo = await startDemoPages();
  const receiver = await startReceiver(500);
  const hand = await openHand(browser(), demo.url, mode);
  await accept(hand, demo);
  const signIn = hand.hasScripts ? await takePasskey(hand) : await takeApp(hand, demo);
  await signOutAndIn(hand, signIn);
  await hand.send("Switch to sandbox");
  await makeCredential(hand);
  await askForFunds(hand);
  await orderEsim(hand);
  await importPassports(hand);
  await fixWebhook(hand, receiver);
  expect([...hand.faults, ...hand.complaints]).toEqual([]);
});

async function accept(hand: Hand, demo: DemoPages): Promise<void> {
  const { link } = await demo.operator("users", "invite", EMAIL, "--partner", "demo", "--role", "owner");
  await hand.open(new URL(link).pathname);
  await hand.fill("Your name", "Mara Quill");
  await hand.fill("Password", PASSWORD);
  await hand.send("Create the account");
  expect(await hand.text()).toMatch(/^Overview/);
}

/** Makes a passkey with a device that the browser only plays; answers how it signs in. */
async function takePasskey(hand: Hand): Promise<() => Promise<void>> {
  const session = await hand.page.context().newCDPSession(hand.page);
  await session.send("WebAuthn.enable");
  const device = { protocol: "ctap2", transport: "internal", hasUserVerification: true, isUserVerified: true } as const;
  await session.send("WebAuthn.addVirtualAuthenticator", { options: { ...device, hasResidentKey: true } });
  await hand.follow("Mara Quill");
  await hand.follow("Change your second factor");
  await hand.send("Add a passkey");
  expect(await hand.text()).toContain("The passkey is a second factor now.");
  return () => hand.send("Use a passkey");
}

/** Sets up an authenticator app; answers how it signs in. */
async function takeApp(hand: Hand, demo: DemoPages): Promise<() => Promise<void>> {
  await hand.follow("Mara Quill");
  await hand.follow("Change your second factor");
  await hand.send("Set up an authenticator app");
  const [, secret = ""] = /otpauth:\S*[?&]secret=([A-Z2-7]+)/.exec(await hand.text()) ?? [];
  const code = demo.app(secret);
  await hand.fill("Code", code());
  await hand.send("Confirm");
  expect(await hand.text()).toContain("The app is your second factor now.");
  return async () => {
    await hand.fill("Code", code());
    await hand.send("Continue");
  };
}

async function signOutAndIn(hand: Hand, prove: () => Promise<void>): Promise<void> {
  await hand.send("Sign out");
  expect(await hand.text()).toContain("You are signed out.");
  await hand.fill("E-mail address", EMAIL);
  await hand.fill("Password", PASSWORD);
  await hand.send("Sign in");
  expect(await hand.text()).toMatch(/^Second factor/);
  await prove();
  expect(await hand.text()).toMatch(/^Overview/);
}

async function makeCredential(hand: Hand): Promise<void> {
  await hand.follow("Developers");
  await hand.choose("Environment", "sandbox");
  await hand.fill("Label", "First shop");
  await hand.send("Make a credential");
  const shown = await hand.text();
  expect(shown).toMatch(/Client ID sk_test_\w+.* Client secret [\w-]{43}/);
  const [, secret = ""] = /Client secret ([\w-]{43})/.exec(shown) ?? [];
  await hand.follow("Continue");
  expect(await hand.text()).toContain("First shop");
  expect(await hand.page.content()).not.toContain(secret);
}

async function askForFunds(hand: Hand): Promise<void> {
  await hand.follow("Wallet");
  await hand.fill("Amount", "1500.00");
  await hand.send("Ask for funds");
  expect(await hand.text()).toMatch(/Announced\. Name FND-\w{8} in your transfer\./);
}

async function orderEsim(hand: Hand): Promise<void> {
  await hand.follow("Orders");
  await hand.unfold("New order");
  await hand.fill("Product", "ES-EU-1GB-7D");
  await hand.fill("Quantity", "2");
  // Without a script the price is asked for by a button.
  if (!hand.hasScripts) await hand.send("Show the price");
  const quote = hand.page.locator("[data-quote-result]");
  await eventually(
    () => quote.innerText(),
    (words) => /2 × Europe 1 GB \/ 7 days: [\d.]+ AUD, delivered at once/.test(words),
  );
  await hand.send("Place the order");
  await hand.until(/Status fulfilled/);
  await hand.follow(/^89\d{17,18}$/);
  const code = hand.page.locator("img.qr");
  // Waits until the picture is there; one that cannot be shown is refused.
  await code.evaluate((image: HTMLImageElement) => image.decode());
  // An empty box of this size is a few hundred bytes of PNG; the modules of a code are thousands.
  expect((await code.screenshot()).length).toBeGreaterThan(2_000);
}

/** A file as a spreadsheet saves it: a line above, other names, semicolons, days first, one row wrong. */
function messyPassports(): Buffer {
  const rows = Array.from({ length: 40 }, (_, at) => {
    const two = (number: number) => String(number).padStart(2, "0");
    const born = `${two(1 + (at % 28))}/0${1 + (at % 9)}/19${60 + at}`;
    return `Zoë${at};Müller ;MS;${born};P${String(at).padStart(8, "0")};Germany;31/12/2034;GRP-${at}`;
  });
  const lines = [
    "Group 14, spring;;;;;;;",
    "Given Name;Surname;Title;DOB;Passport No.;Issuing Country;Expiry Date;Reference",
    ...rows,
    "Bad;Row;Ms;31/02/1980;P99999999;Germany;31/12/2034;GRP-X",
  ];
  return Buffer.from(lines.join("\r\n"), "latin1");
}

async function importPassports(hand: Hand): Promise<void> {
  await hand.follow("Passports");
  await hand.follow("Import a file");
  await hand.upload("File", { name: "group 14.csv", mimeType: "text/csv", buffer: messyPassports() });
  await hand.send("Continue");
  const preview = await hand.text();
  expect(preview).toContain("41 rows in the file: 40 good, 1 wrong. Nothing is stored yet.");
  expect(preview).toMatch(/Zoë0 Müller/);
  await hand.send("Import 40 rows");
  expect(await hand.text()).toMatch(/^40 passports added.*Rejected: 1/);
}

async function fixWebhook(hand: Hand, receiver: Receiver): Promise<void> {
  await hand.follow("Developers");
  await hand.follow("Webhooks");
  await hand.unfold("New endpoint");
  await hand.fill("URL", receiver.url);
  await hand.tick(hand.page.locator('input[name="events"][value="*"]'));
  await hand.send("Make the endpoint");
  await hand.follow("Continue");
  await hand.send("Send a test");
  await hand.until(/500, \d+ ms/);
  await hand.follow(receiver.url);
  await hand.until(/attempts? in a row failed/);
  receiver.answers(200);
  await hand.follow("order.created");
  await hand.send("Send it again");
  await hand.until(/Status delivered/);
}
