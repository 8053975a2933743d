import { request } from "./activations.ts";
import type { DemoPages } from "./demo-pages.ts";
import { passport } from "./passports.ts";

type Program = Awaited<ReturnType<DemoPages["program"]>>;

const DAY_MS = 86_400_000;

/** A day after the demo's own today. */
export function dayAfter(pages: DemoPages, days: number): string {
  return new Date(pages.now() + days * DAY_MS).toISOString().slice(0, 10);
}

/** Orders a product of the demo by its SKU. */
export async function orderBySku(program: Program, sku: string, quantity = 1) {
  const { data } = await program.get("/products?limit=100");
  const found = data.find((one: { sku: string }) => one.sku === sku);
  const order = { line_items: [{ product_id: found.id, quantity }], external_order_id: `WEB-${sku}-${quantity}` };
  return program.send("/orders", order);
}

/** Submits requests of the demo partner; answers them. */
export async function submitActivations(pages: DemoPages, program: Program, count: number, last_name: string) {
  // The month after next is far enough: the demo's carriers work none of them while a test runs.
  const activation_date = dayAfter(pages, 40);
  const passport_expiry = dayAfter(pages, 2_000);
  const all: { id: string; iccid: string }[] = [];
  for (let made = 0; made < count; made++) {
    all.push(await program.send("/activations", request({ activation_date, passport_expiry, last_name })));
  }
  return all;
}

/** Something on every page: what goes well, what waits for a person, and what fails. */
export async function fillDemo(pages: DemoPages, receiver: string): Promise<void> {
  const program = await pages.program();
  // Production takes https alone, which the receiver does not speak: what is sent there fails.
  await program.send("/webhooks", { url: receiver.replace("http:", "https:"), events: ["*"], description: "Shop" });
  await orderBySku(program, "ES-EU-5GB-30D", 3);
  await orderBySku(program, "ES-KR-5GB-10D");
  await orderBySku(program, "EA-NA-VOICE-15GB-30D");
  const { data } = await program.get("/products?limit=100");
  const card = data.find((one: { product_type: string }) => one.product_type === "physical_sim");
  const shipping_address = { name: "Desk", address: "1 Quay Street", city: "Sydney", postcode: "2000", country: "AU" };
  await program.send("/orders", { line_items: [{ product_id: card.id, quantity: 2, shipping_address }] });
  await submitActivations(pages, program, 3, "Underwold");
  await program.send("/kyc/passports", { records: Array.from({ length: 3 }, () => passport()) });
  await program.send("/wallet/funding-requests", { amount_cents: 150_000, currency: "AUD" });
  await program.send("/orders", { line_items: [] }).catch(() => "refused, which a page of the portal lists");
  const sandbox = await pages.program("sandbox");
  await orderBySku(sandbox, "ES-EU-1GB-7D");
  await pages.operator("users", "invite", "agent@demo.example", "--partner", "demo", "--role", "agent");
  await pages.operator("users", "invite", "staff@staff.example", "--role", "support", "--reveal");
  await pages.operator("suppliers", "set", "kestrel", "--adapter", "email", "--to", "orders@kestrel.example");
  const account = ["--adapter", "esimaccess", "--url", "http://127.0.0.1:9", "--secret", "CODE:KEY"];
  await pages.operator("suppliers", "set", "ea", ...account);
  const plan = ["--supplier", "ea", "--supplier-sku", "CNAV", "--priority", "1", "--cost", "9.5", "--currency", "USD"];
  await pages.operator("sources", "add", "EA-NA-VOICE-15GB-30D", ...plan);
  await pages.operator("prices", "set", "gold", "--sku", "ES-EU-5GB-30D", "--price", "6.10");
  await pages.operator("prices", "set", "gold", "--region", "Europe", "--markup", "35", "--from", dayAfter(pages, 1));
  await pages.operator("partners", "update", "demo", "--price-list", "gold");
  await pages.operator("fx", "set", "USD", "AUD", "1.52");
}
