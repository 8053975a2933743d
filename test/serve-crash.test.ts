import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const preload = join(import.meta.dirname, "support", "broken-thread.mjs");

test.each(["main", "writer"])(
  "an error that nothing caught in the thread %s ends serve, and is logged",
  { tags: ["slow"] },
  async (name) => {
    const folder = temporaryDirectory();
    const data = join(folder, "data");
    const when = join(folder, "now");
    const env = { NODE_OPTIONS: `--import ${preload}`, BROKEN_THREAD: name, BROKEN_WHEN: when };
    const daemon = await startDaemon({ data, env });
    // What is under way to the file when the process ends may reach it after its last line.
    const log = join(data, "logs", "serve.log");
    await expect.poll(() => existsSync(log) && readFileSync(log, "utf8")).toContain('"listening"');
    writeFileSync(when, "");
    const { exitCode, stdout, stderr } = await daemon.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: an unexpected error ends the process: \w*Error: Failed query: insert\s*$/m);

    const kept = readFileSync(log, "utf8");
    for (const lines of [stdout, kept]) {
      const last = JSON.parse(lines.trim().split("\n").at(-1) ?? "");
      expect(last).toMatchObject({ level: "fatal", event: "crashed", err: { message: "Failed query: insert" } });
      expect(last.err.stack[0]).toContain("broken-thread.mjs");
    }
    // Neither a query's parameters nor the members of its error are shown.
    for (const text of [stdout, stderr, kept]) expect(text).not.toContain("P1234567");
  },
);

test("status and doctor say at once that a killed daemon is gone", { tags: ["slow"] }, async () => {
  const data = join(temporaryDirectory(), "data");
  const daemon = await startDaemon({ data });
  const served = Object(await esimctlJson(["status", "--data", data]));
  expect(served.serving).toMatchObject({ serving: true, nodes: [{ state: "serving" }] });
  await daemon.kill();
  const gone = Object(await esimctlJson(["status", "--data", data]));
  expect(gone.serving).toMatchObject({ serving: false, nodes: [{ state: "lost" }] });
  const checked = await esimctl(["doctor", "--data", data]);
  expect(checked.stdout).toContain("Nothing serves it: the daemon ended without a stop");
});
