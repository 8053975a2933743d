import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServer } from "./support/http.ts";
import { call } from "./support/platform.ts";
import { root } from "./support/sources.ts";

const guides = ["api", "webhooks", "states"];

function linksOf(page: string): string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, address = ""]) => address);
}

test("the guides are served as pages without resources of another host, readable on a phone", async () => {
  const { url } = await startServer();
  for (const guide of guides) {
    const { status, headers, body } = await call(`${url}/docs/${guide}`);
    expect(status, guide).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';style-src 'unsafe-inline';/);
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, "docs", `${guide}.md`), "utf8")) ?? [];
    expect(body, guide).toContain(`>${title?.replaceAll("'", "&#39;")}</h1>`);
    expect(body).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(body).not.toMatch(/<(script|link rel="stylesheet"|img|iframe)/);
    expect(body).not.toMatch(/href="[^"]*\.md/);
  }
  expect((await call(`${url}/docs/installing`)).status, "is for the operator").toBe(404);
});

test("every link of guides, errors and the reference resolves to a page and heading", async () => {
  const { url } = await startServer();
  const pages = new Map<string, string>();
  for (const path of ["/docs", "/docs/errors", "/docs/errors/validation", ...guides.map((name) => `/docs/${name}`)]) {
    pages.set(path, String((await call(url + path)).body));
  }
  for (const [path, body] of pages) {
    const links = linksOf(body).filter((address) => !/^(data:|https?:)/.test(address));
    expect(links, path).toEqual(expect.arrayContaining(["/docs", "/docs/errors", ...guides.map((g) => `/docs/${g}`)]));
    for (const link of links) {
      const [to = "", heading] = link.split("#");
      const target = pages.get(to || path) ?? String((await call(url + to)).body);
      expect(target, `${path}: ${link}`).toMatch(/<!doctype html>/);
      if (heading !== undefined) expect(target, `${path}: ${link}`).toContain(`id="${heading}"`);
    }
  }
});

test("behind a proxy's path prefix the guides link within it", async () => {
  const { app } = await startServer({ publicUrl: "https://esim.example/partner" });
  const page = await app.inject("/docs/api");
  expect(linksOf(page.body)).toContain("/partner/docs/webhooks");
});
