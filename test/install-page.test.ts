import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { updateProduct } from "../src/core/catalog/import.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import type { EsimStatus } from "../src/core/store/schema/values.ts";
import type { Tx } from "../src/core/store/store.ts";
import { chooseLanguage } from "../src/daemon/pages/install-words.ts";
import { addProducts } from "./support/catalog.ts";
import { deliverEsim } from "./support/esims.ts";
import { call, type Platform, startPlatform } from "./support/platform.ts";

const ICCID = "8944590004463637008";
const CODE = "LPA:1$smdp.example.net$K2-7YTQ1-AB";

/** The page's address of a delivered production eSIM. */
async function delivered(platform: Platform, name = "Europe 5 GB"): Promise<string> {
  const products = await addProducts(platform.store, [{ sku: "EU5", name }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const { installUrl } = await deliverEsim(platform, caller, { sku: "EU5", product: products.EU5, iccid: ICCID });
  return installUrl.replace("http://esim.test", platform.url);
}

async function becomes(tx: Tx, status: EsimStatus): Promise<void> {
  await tx.db.update(tx.t.esims).set({ status }).where(eq(tx.t.esims.iccid, ICCID));
}

test("has the one-tap links of both systems, the QR code and every code by hand", async () => {
  const platform = await startPlatform();
  const page = await call(await delivered(platform));
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const data = encodeURIComponent(CODE);
  for (const host of ["esimsetup.apple.com", "esimsetup.android.com"]) {
    expect(page.body).toContain(`href="https://${host}/esim_qrcode_provisioning?carddata=${data}"`);
  }
  for (const shown of ["smdp.example.net", "K2-7YTQ1-AB", "0731", CODE, `ICCID ${ICCID}`]) {
    expect(page.body).toContain(`${shown}<`);
  }
  expect(page.body).not.toMatch(/class="warn"/);
});

test("shows its picture at any address, under its content security policy", async () => {
  const platform = await startPlatform();
  const address = await delivered(platform);
  const page = await call(address);
  const [, source = ""] = /<img[^>]* src="([^"]+)"/.exec(String(page.body)) ?? [];
  const picture = await call(new URL(source, address).href);
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
  const policy = (page.headers.get("content-security-policy") ?? "").split(";");
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "style-src 'unsafe-inline'"]));
  expect(policy.find((directive) => directive.startsWith("img-src "))).toMatch(/'self'/);
  expect(page.body).not.toMatch(/<script|\son\w+=/i);
});

test("shows a product's name without bidirectional and hidden characters, as does its picture", async () => {
  const platform = await startPlatform();
  const page = await call(await delivered(platform, "Europe\u0001 \u202e5 GB\u200b <b>"));
  expect(page.body).toContain('<p class="plan">Europe   5 GB  &lt;b&gt;</p>');
  const [{ id }] = (await (await platform.caller()).get("/api/v1/products")).body.data;
  const picture = await call(`${platform.url}/media/products/${id}.svg`);
  expect(picture.body).toContain("<title>Europe   5 GB  &lt;b&gt;</title>");
});

test("is kept from caches, search engines and referrers: its address is a secret", async () => {
  const platform = await startPlatform();
  const { headers } = await call(await delivered(platform));
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-robots-tag")).toBe("noindex");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
});

test("escapes names", async () => {
  const platform = await startPlatform();
  const page = await call(await delivered(platform, `<img src=x onerror="alert(1)"> & more`));
  expect(page.body).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; more");
});

describe("languages", () => {
  test.each([
    ["de-AT,de;q=0.9,en;q=0.5", "de", "eSIM installieren"],
    ["fr", "fr", "Installer votre eSIM"],
    ["es-MX", "es", "Instala tu eSIM"],
    ["ja-JP", "ja", "eSIMのインストール"],
    ["zh-CN,zh;q=0.9", "zh-Hans", "安装您的 eSIM"],
    ["zh-Hans-CN", "zh-Hans", "安装您的 eSIM"],
    ["nl,pt;q=0.8", "en", "Install your eSIM"],
    ["nl,es;q=0.4,en;q=0.2", "es", "Instala tu eSIM"],
    ["*", "en", "Install your eSIM"],
    [";;q=x,,", "en", "Install your eSIM"],
  ])("%s gets %s", async (accepted, language, title) => {
    const platform = await startPlatform();
    const { body, headers } = await call(await delivered(platform), { headers: { "accept-language": accepted } });
    expect(body).toContain(`<html lang="${language}">`);
    expect(body).toContain(`<h1>${title}</h1>`);
    expect(headers.get("content-language")).toBe(language);
    expect(headers.get("vary")).toMatch(/accept-language/i);
  });

  test("a browser that names no language gets English", () => {
    expect(chooseLanguage(undefined)).toBe("en");
    expect(chooseLanguage("")).toBe("en");
  });
});

test("states that the eSIM has expired or is suspended", async () => {
  const platform = await startPlatform();
  const address = await delivered(platform);
  for (const [status, words] of [
    ["expired", "has expired"],
    ["suspended", "is suspended"],
  ] as const) {
    await platform.store.write(becomes, status);
    expect((await call(address)).body).toMatch(new RegExp(`class="warn">[^<]*${words}`));
  }
});

test("marks an eSIM of the sandbox as a test", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const line_items = [{ product_id: products.EU5, quantity: 1 }];
  const order = await caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "page" });
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${order.body.id}/esims`);
  const page = await call(body.esims[0].install_url.replace("http://esim.test", platform.url));
  expect(page.body).toMatch(/class="warn">This is a test eSIM/);
});

test("names the seller, how to reach it, and what was bought", async () => {
  const platform = await startPlatform();
  const address = await delivered(platform);
  await platform.store.write(updatePartner, { slug: "partner-1", support: "help@shop.example <b>", actor: "test" });
  const coverage = ["FR", "DE", "ES", "IT", "PT", "NL", "BE", "Canary Islands"];
  await platform.store.write(updateProduct, { sku: "EU5", coverage, actor: "test" });
  const { body } = await call(address);
  for (const fact of ["partner-1", "help@shop.example &lt;b&gt;", "5 GB", "30 days", "France, Germany"]) {
    expect(body).toContain(fact);
  }
  expect(body).toContain("and 2 more");
  const german = await call(address, { headers: { "accept-language": "de" } });
  expect(german.body).toContain("Frankreich, Deutschland");
  expect(german.body).toContain("30 Tage");
  await expect(
    platform.store.write(updatePartner, { slug: "partner-1", support: "x".repeat(201), actor: "test" }),
  ).rejects.toThrow();
});

test("a wrong link answers a browser a page in words, and a program a problem", async () => {
  const platform = await startPlatform();
  await delivered(platform);
  for (const path of ["/install/x", "/qr/x.png", "/qr/x.svg"]) {
    const asked = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "fr" };
    const page = await call(platform.url + path, { headers: asked });
    expect([page.status, page.headers.get("content-type")], path).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.body).toContain("Ce lien ne fonctionne pas");
    expect(page.headers.get("x-robots-tag")).toBe("noindex");
    const problem = await call(platform.url + path, { headers: { accept: "application/json" } });
    expect([problem.status, problem.headers.get("content-type")], path).toEqual([404, "application/problem+json"]);
  }
});

test("is a 404 for a guessed address", async () => {
  const platform = await startPlatform();
  const address = await delivered(platform);
  const last = address.endsWith("A") ? "B" : "A";
  expect((await call(address.slice(0, -1) + last)).status).toBe(404);
  expect((await call(`${platform.url}/install/x`)).status).toBe(404);
});
