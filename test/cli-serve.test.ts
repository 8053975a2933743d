import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { esimctl, esimctlJson, serving } from "./support/cli.ts";
import { temporaryDirectory } from "./support/store.ts";

function fresh(): string {
  return join(temporaryDirectory(), "data");
}

test("serve makes what is not there, without demo data, and stops on signals with 0", async () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const data = fresh();
    const daemon = await serving(data);
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    expect(await esimctlJson(["partners", "list", "--data", data])).toEqual({ data: [], count: 0 });
    expect(await daemon.stop(signal)).toBe(0);
  }
});

test("one daemon a data directory", async () => {
  const data = fresh();
  await serving(data);
  const second = await esimctl(["serve", "--data", data, "--port", "0"]);
  expect(second).toMatchObject({ exitCode: 1, stdout: "" });
  expect(second.stderr).toMatch(/^error: Another esimctl serve already runs on .*\n→ Stop it first.*$/);
});

test("a port that is taken is one line", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const ended = await esimctl(["serve", "--data", fresh(), "--port", String(port)]);
  expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
  expect(ended.stderr).toMatch(new RegExp(`^error: Port ${port} .* is taken.*\\n→ .*--port.*$`));
});

test("links carry the public address that the daemon was served at", async () => {
  const data = fresh();
  await esimctlJson(["init", "--demo", "--data", data]);
  const daemon = await serving(data, ["--public-url", "https://esim.example.com/shop/"]);
  const acting = ["--partner", "demo", "--sandbox", "--data", data];
  const { id } = Object(
    await esimctlJson(["orders", "create", "--product", "ES-EU-5GB-30D", "--quantity", "1", ...acting]),
  );
  for (;;) {
    const { exitCode, stdout } = await esimctl(["orders", "esims", id, "--json", ...acting]);
    if (exitCode !== 0) continue;
    expect(JSON.parse(stdout).esims[0].install_url).toMatch(/^https:\/\/esim\.example\.com\/shop\/install\//);
    break;
  }
  await daemon.stop();
});
