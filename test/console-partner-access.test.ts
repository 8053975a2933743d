import { expect, test } from "vitest";
import { auditOfPartner } from "../src/core/audit/list.ts";
import { listCredentials } from "../src/core/credentials/credential.ts";
import { showPartner } from "../src/core/partners/partner.ts";
import { PASSWORD, person, startPages } from "./support/pages.ts";
import { call, type Platform } from "./support/platform.ts";
import { visitor } from "./support/visitor.ts";

async function withAdmin() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.caller({ slug: "beta" });
  return { platform, caller, admin: await person(platform, { role: "admin" }) };
}

async function tokenStatus({ url }: Platform, client_id: string, client_secret: string) {
  const { status } = await call(`${url}/api/v1/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ grant_type: "client_credentials", client_id, client_secret }),
  });
  return status;
}

test("an admin changes settings and the credit line, and the audit trail names what changed alone", async () => {
  const { platform, caller, admin } = await withAdmin();
  const first = await admin.get("/console/partners/acme/settings");
  const typed = { tier: "premium", rate_limit: "120", max_pool: "500", production: "yes", sandbox_activations: "yes" };
  const saved = await admin.send(first, typed);
  expect(saved.text).toContain("The settings of acme are saved.");
  const page = await admin.get("/console/partners/acme/settings");
  const bad = await admin.send(page, { max_days_ahead: "99999", rate_limit: "1.5" });
  expect([bad.status, bad.text]).toEqual([400, expect.stringContaining("must be a whole number")]);
  const far = await admin.send(page, { max_days_ahead: "99999" });
  expect(far.page.querySelector('[name="production"]')?.hasAttribute("checked")).toBe(true);
  const unticked = await admin.send(page, { max_days_ahead: "99999", production: "" });
  expect(unticked.page.querySelector('[name="production"]')?.hasAttribute("checked")).toBe(false);
  expect([far.status, far.text]).toEqual([400, expect.stringContaining("must be a whole number from 0 to 3650")]);
  const now = await admin.get("/console/partners/acme/settings");
  expect((await admin.send(now, { tier: "premium" })).text).toContain("Nothing was changed.");
  const line = await admin.send(now, { credit_line: "5000.00", currency: "aud" });
  expect(line.text).toContain("The credit line of acme is 5,000.00 AUD.");
  expect(line.text).toContain("credit_line in AUD: 0.00 → 5000.00");
  const partner = await platform.store.read(showPartner, "acme");
  expect(partner).toMatchObject({
    tier: "premium",
    rate_limit_per_minute: 120,
    production_enabled: true,
    limits: { max_pool: 500, sandbox_activations: true },
    credit_lines: [{ currency: "AUD", limit_cents: 500_000 }],
  });
  const lines = await platform.store.read(auditOfPartner, { partnerId: caller.partnerId, limit: 2 });
  expect(lines.map(({ fields, actor }) => [fields, actor])).toEqual([
    [["credit_line_cents AUD"], `user:${admin.id}`],
    [["tier", "max_pool", "rate_limit"], `user:${admin.id}`],
  ]);
});

test("an admin makes, replaces and revokes a credential, whose secret is shown once", async () => {
  const { platform, admin } = await withAdmin();
  const made = await admin.send(await admin.get("/console/partners/acme/credentials"), {
    environment: "production",
    label: "shop",
  });
  const shownOf = (page: typeof made, name: string) => page.page.querySelector(`#client-${name}`)?.textContent ?? "";
  const id = shownOf(made, "id");
  expect(await tokenStatus(platform, id, shownOf(made, "secret"))).toBe(200);
  const at = `/console/partners/acme/credentials/${id}`;
  const page = await admin.get(at);
  expect(page.html).not.toContain(shownOf(made, "secret"));
  const replaced = await admin.send(await admin.send(page, {}, "/rotate"), {}, "/rotate");
  expect(await tokenStatus(platform, id, shownOf(made, "secret"))).toBe(401);
  expect(await tokenStatus(platform, id, shownOf(replaced, "secret"))).toBe(200);
  const gone = await admin.send(await admin.send(page, {}, "/revoke"), {}, "/revoke");
  expect([gone.path, gone.text]).toEqual([at, expect.stringContaining("revoked")]);
  expect(await tokenStatus(platform, id, shownOf(replaced, "secret"))).toBe(401);
  // The same ID under another partner.
  expect((await admin.get(`/console/partners/beta/credentials/${id}`)).status).toBe(404);
  const closed = await admin.get("/console/partners/beta/credentials");
  expect((await admin.send(closed, { environment: "sandbox" })).text).toContain("The credential is made.");
});

test("guard rails of a credential are set, and taken away", async () => {
  const { platform, caller, admin } = await withAdmin();
  const at = `/console/partners/acme/credentials/${caller.clientId}`;
  const railsOf = async () => (await platform.store.read(listCredentials, "acme"))[0];
  const page = await admin.get(at);
  const wrong = await admin.send(page, { ip: "nowhere" });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("must be addresses or networks")]);
  await admin.send(page, { ip: "203.0.113.0/24\n198.51.100.7", expires: "2027-06-30", identity: "" });
  await admin.send(page, { currency: "aud", per_order: "200.00", per_day: "" });
  expect(await railsOf()).toMatchObject({
    identity: false,
    guard_rails: {
      addresses: ["203.0.113.0/24", "198.51.100.7/32"],
      expires_at: "2027-06-30T00:00:00.000Z",
      spend_caps: [{ currency: "AUD", per_order: "200.00", per_day: null }],
    },
  });
  const shown = await admin.get(at);
  expect(shown.text).toContain("AUD: at most 200.00 an order");
  await admin.send(shown, { ip: "", expires: "", identity: "yes" });
  await admin.send(shown, { currency: "AUD", per_order: "", per_day: "" });
  expect(await railsOf()).toMatchObject({
    identity: true,
    guard_rails: { addresses: null, expires_at: null, spend_caps: [] },
  });
});

test("an admin invites a person by a link, disables, enables and resets them", async () => {
  const { platform, admin } = await withAdmin();
  const users = await admin.get("/console/partners/acme/users");
  const invited = await admin.send(users, { email: "max@acme.example", role: "owner" });
  const link = invited.page.querySelector("#link")?.textContent ?? "";
  expect(link).toMatch(new RegExp(`^${platform.url}/portal/invitations/[\\w-]{43}$`));
  const max = visitor(platform.url);
  const welcome = await max.get(new URL(link).pathname);
  const common = await max.send(welcome, { name: "Max", password: "password1234" });
  const words = "Password is one that many people use, alone or with digits added: choose another.";
  expect([common.status, common.text]).toEqual([400, expect.stringContaining(words)]);
  expect((await max.send(welcome, { name: "Max", password: PASSWORD })).path).toBe("/portal");
  const stranger = visitor(platform.url);
  const used = await stranger.get(new URL(link).pathname);
  const unknown = await stranger.get("/portal/invitations/none");
  expect([used.status, used.text]).toEqual([404, unknown.text]);
  expect(used.page.querySelector('main a[href="/portal/sign-in"]')).not.toBeNull();
  const twice = await admin.send(users, { email: "max@acme.example", role: "viewer" });
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining("exists already")]);
  const list = await admin.get("/console/partners/acme/users");
  const at = list.page.querySelector("tbody a")?.getAttribute("href") ?? "";
  expect((await admin.get(at.replace("acme", "beta"))).status).toBe(404);
  const one = await admin.get(at);
  expect((await admin.send(one, { role: "viewer" }, "/role")).text).toContain("last owner");
  const off = await admin.send(await admin.send(one, {}, "/disable"), {}, "/disable");
  expect(off.text).toContain("max@acme.example is disabled.");
  expect((await max.get("/portal")).path).toMatch(/sign-in/);
  expect((await admin.send(off, {}, "/enable")).text).toContain("max@acme.example is enabled.");
  const again = await admin.send(await admin.send(one, {}, "/reset"), {}, "/reset");
  expect(again.page.querySelector("#link")?.textContent).not.toBe(link);
});

test("credentials, settings and people of partners are the admin's", async () => {
  const { platform, caller } = await withAdmin();
  const origin = new URL(platform.url).origin;
  const id = caller.clientId;
  for (const role of ["finance", "support", "viewer"] as const) {
    const one = await person(platform, { role });
    expect((await one.get("/console/partners/acme/settings")).status, role).toBe(403);
    expect((await one.get("/console/partners/acme/users")).status, role).toBe(403);
    for (const path of ["", `/${id}`]) {
      const page = await one.get(`/console/partners/acme/credentials${path}`);
      expect([page.status, page.page.querySelectorAll('main form[method="post"] input:not([type="hidden"])')]).toEqual([
        200,
        [],
      ]);
    }
    const acts = ["settings", "credit-line", "credentials", `credentials/${id}/rotate`, `credentials/${id}/revoke`];
    for (const act of [...acts, `credentials/${id}/guard-rails`, `credentials/${id}/spend-cap`, "users"]) {
      expect((await one.post(`/console/partners/acme/${act}`, {}, { origin })).status, `${role} ${act}`).toBe(403);
    }
  }
});

test("a credential is made after the second factor was given again", async () => {
  const { platform, admin } = await withAdmin();
  const page = await admin.get("/console/partners/acme/credentials");
  platform.clock.advance(10 * 60_000);
  const asked = await admin.send(page, { environment: "sandbox", label: "late" });
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("Confirm that it is you")]);
  expect((await admin.send(asked, { code: admin.code() })).text).toContain("The credential is made.");
  const labels = (await platform.store.read(listCredentials, "acme")).map(({ label }) => label);
  expect(labels.filter((label) => label === "late")).toHaveLength(1);
});
