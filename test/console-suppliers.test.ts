import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { findProductBySku } from "../src/core/catalog/product.ts";
import { supplierContact } from "../src/core/suppliers/supplier.ts";
import { person, startPages } from "./support/pages.ts";
import { supplierDesk } from "./support/supplier-desk.ts";
import { csrfOf } from "./support/visitor.ts";

const AT = "/console/suppliers/ea";

async function shop() {
  const here = await supplierDesk({ pages: true });
  const { platform } = here;
  const admin = await person(platform, { role: "admin" });
  const product = (sku: string) => platform.store.read(findProductBySku, sku);
  const trail = async () =>
    (await platform.store.read(listAudit, { target: "ea", limit: 20 })).map(({ action, actor }) => [action, actor]);
  return { ...here, admin, product, trail };
}

test("a provider is connected, checked and changed; its secret is shown nowhere", async () => {
  const { platform, provider, admin } = await shop();
  const list = await admin.get("/console/suppliers");
  const typed = { name: "two", adapter: "esimaccess", url: provider.url, secret: "only-one-part" };
  const refused = await admin.send(list, typed);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("must be ACCESSCODE:SECRETKEY")]);
  expect(refused.html).toContain('value="two"');
  const connected = await admin.send(refused, { ...typed, secret: provider.secret });
  expect([connected.path, connected.text]).toEqual(["/console/suppliers/two", expect.stringContaining("two is saved")]);
  const twice = await admin.send(list, { ...typed, secret: provider.secret });
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining("There is a supplier two already.")]);
  const contact = () => platform.store.read(supplierContact, "two");
  expect((await contact())?.secret?.reveal()).toBe(provider.secret);

  const checked = await admin.send(connected, {}, "/two/check");
  expect(checked.text).toMatch(/credential ?ok ?It is accepted/);
  const replaced = await admin.send(connected, { secret: `${provider.secret}x` }, "/two/secret");
  expect((await admin.send(replaced, {}, "/two/check")).text).toMatch(/credential ?failed/);
  expect((await admin.send(replaced, {}, "/two/balance")).status).toBe(503);
  for (const seen of [refused, connected, checked, replaced]) expect(seen.html).not.toContain(provider.secret);

  await admin.send(replaced, { secret: provider.secret }, "/two/secret");
  expect((await admin.send(replaced, {}, "/two/balance")).text).toContain("The account of two holds 1000.0000 USD.");
  const changed = await admin.send(
    replaced,
    { url: "https://esim.example.com/open", low_balance: "" },
    "/two/connection",
  );
  expect(changed.text).toContain("https://esim.example.com/open");
  expect((await contact())?.secret?.reveal()).toBe(provider.secret);
  const plain = await admin.send(changed, { url: "http://esim.example.com/open" }, "/two/connection");
  expect([plain.status, plain.text]).toEqual([400, expect.stringContaining("must be https beyond this machine")]);
  const open = await admin.send(changed, { url: "http://esim.example.com", insecure: "yes" }, "/two/connection");
  expect(open.page.querySelector('input[name="insecure"]')?.hasAttribute("checked")).toBe(true);
  expect((await admin.send(open, { insecure: "" }, "/two/connection")).status).toBe(400);
  // Empty is the provider's own.
  expect((await admin.send(open, { url: "" }, "/two/connection")).text).toContain(
    "https://api.esimaccess.com/api/v1/open",
  );
});

test("acts with secrets ask for the second factor again, and carry no secret meanwhile", async () => {
  const { platform, provider, admin, trail } = await shop();
  const list = await admin.get("/console/suppliers");
  platform.clock.advance(11 * 60_000);
  const typed = { name: "two", adapter: "esimaccess", url: provider.url, secret: provider.secret };
  const asked = await admin.send(list, typed);
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("Confirm that it is you")]);
  expect(asked.html).not.toContain(provider.secret);
  const again = await admin.send(asked, { code: admin.code() });
  expect([again.status, again.text]).toEqual([
    400,
    expect.stringContaining("Secret is needed by the esimaccess adapter"),
  ]);
  const done = await admin.send(again, { ...typed });
  expect(done.path).toBe("/console/suppliers/two");
  const shown = await admin.send(await admin.get(AT), {}, "/ea/callback");
  expect(shown.page.querySelector("#callback")?.textContent).toMatch(/\/callbacks\/suppliers\/ea\/[A-Za-z0-9]{40}$/m);
  await admin.send(await admin.get(AT), { low_balance: "50" }, "/ea/connection");
  expect(await trail()).toContainEqual(["suppliers.set", `user:${admin.id}`]);
});

test("a sync shows what it changes, with currencies and what is left out, before it does", async () => {
  const { list, admin, product, trail, provider } = await shop();
  list((all) => [...all, { name: "Moon 1GB" }]);
  const form = await admin.get(`${AT}/sync`);
  const first = await admin.send(form, { markup: "" });
  expect([first.status, first.text]).toEqual([400, expect.stringContaining("is needed by the first sync")]);
  const preview = await admin.send(form, { markup: "35", prefix: "EA-", only: "JP, KR" });
  expect(preview.text).toContain("15 plans read: 11 added, 0 updated, 0 unchanged, 0 deactivated, 0 held.");
  expect(preview.text).toContain("EA-CJP101cost–0.7000 USD");
  expect(preview.text).toContain("EA-CJP101price–0.95 USD");
  expect(preview.text).toContain('row 16 of the catalog ("Moon 1GB") cannot be read:');
  expect(await product("EA-CJP101")).toBeNull();
  const done = await admin.send(preview, {}, "/ea/sync");
  expect([done.path, done.text]).toEqual([
    AT,
    expect.stringContaining("11 added, 0 updated, 0 unchanged, 0 deactivated, 0 held; 1 left out."),
  ]);
  expect(await product("EA-CJP101")).toMatchObject({ price_cents: 95, status: "active", supplier: "ea" });
  expect(await trail()).toContainEqual(["suppliers.sync", `user:${admin.id}`]);
  // What was asked for the last time is the form's.
  expect((await admin.get(`${AT}/sync`)).page.querySelector('input[name="prefix"]')?.getAttribute("value")).toBe("EA-");
  const again = await admin.send(await admin.get(`${AT}/sync`), { only: "JP, KR" });
  expect(again.text).toContain("0 added, 0 updated, 11 unchanged");
  await provider.close();
  expect((await admin.send(form, { markup: "35" })).status).toBe(503);
});

test("suppliers without an API of their own have no account, and keep their forms", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const list = await admin.get("/console/suppliers");
  const mail = await admin.send(list, { name: "kestrel", adapter: "email", to: "orders@kestrel.example" });
  expect(mail.text).toContain("orders@kestrel.example");
  expect(mail.text).not.toContain("Sync its catalog");
  const moved = await admin.send(mail, { to: "new@kestrel.example", template: "Subject: {{reference}}\n\nHello" });
  expect(moved.text).toContain("new@kestrel.example");
  expect(moved.text).toMatch(/Own mail template ?yes/);
  for (const act of ["check", "balance", "sync"]) {
    const refused = await admin.post(`/console/suppliers/kestrel/${act}`, csrfOf(mail), { origin: platform.url });
    expect([act, refused.status, refused.text]).toEqual([act, 409, expect.stringContaining("no API of a provider")]);
  }
  const viewer = await person(platform, { role: "viewer" });
  const seen = await viewer.get("/console/suppliers/kestrel");
  expect([seen.status, seen.text.includes("Save the connection")]).toEqual([200, false]);
  expect((await viewer.get("/console/suppliers")).text).not.toContain("Connect a supplier");
});
