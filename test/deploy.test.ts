import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { launchCommand } from "./support/process.ts";
import { root } from "./support/sources.ts";
import { esimctl } from "./support/warm.ts";

const deploy = join(root, "deploy");
const files = readdirSync(deploy, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(deploy.length + 1));
const read = (file: string) => readFileSync(join(deploy, file), "utf8");
const unitFiles = files.filter((file) => /\.(service|timer)$/.test(file));

/** What a text names, in order and once. */
function named(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name))].sort();
}

test("options and variables named in deploy/ are options of serve and variables of docs/installing.md", async () => {
  const { stdout: help } = await esimctl(["serve", "--help"]);
  const known = named(help, /(?<![\w-])(--[a-z][a-z-]+)/g);
  const page = readFileSync(join(root, "docs", "installing.md"), "utf8");
  const commands = {
    "compose.yaml": /^ {4}- (--[a-z-]+)/gm,
    "systemd/esimctl.env": /(?<=SERVE_OPTIONS=.*)(?<!\w)(--[a-z-]+)/g,
    "systemd/esimctl.service": /(?<=esimctl serve .*)(?<!\w)(--[a-z-]+)/g,
  };
  for (const [file, pattern] of Object.entries(commands)) {
    const options = named(read(file), pattern);
    expect(options.length, file).toBeGreaterThan(0);
    expect(known, file).toEqual(expect.arrayContaining(options));
  }
  const variables = named(files.map(read).join("\n"), /\b(ESIMCTL_[A-Z_]+)/g);
  expect(variables).toContain("ESIMCTL_DATABASE");
  expect(variables.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});

test("the commands that units run exist", async () => {
  const lines = unitFiles.flatMap((file) => named(read(file), /^ExecStart=\/usr\/local\/bin\/esimctl (.*)$/gm));
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) {
    const verb = line.split(" ").filter((word) => /^[a-z]/.test(word));
    const { exitCode, stdout } = await esimctl([...verb, "--help"]);
    expect(exitCode, line).toBe(0);
    expect(stdout, line).toContain(`esimctl ${verb.join(" ")}`);
  }
});

test("files that deploy/ names are there", () => {
  const copied = named(read("Dockerfile"), /^COPY --from=build \/opt\/esimctl\/(\S+)/gm);
  // Made by the build: dist, and node_modules without what only development needs.
  expect(copied.filter((path) => path !== "dist" && !existsSync(join(root, path)))).toEqual([]);
  const { files: shipped } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(copied).toEqual(expect.arrayContaining(["bin", "dist", "docs", "fixtures", "package.json"]));
  expect(shipped).toEqual(expect.arrayContaining(["bin", "dist", "docs", "fixtures"]));
  // What holds secrets is never in the repository.
  expect(files.filter((file) => /\.(key|pem)$|^\.env$/.test(file))).toEqual([]);
});

test("the service is started again without end, and has the time to stop that the daemon takes", () => {
  const unit = read("systemd/esimctl.service");
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  expect(unit).toMatch(/^RestartSec=\d+$/m);
  expect(unit).toMatch(/^LoadCredential=esimctl\.key:/m);
  const seconds = [
    ...named(unit, /^TimeoutStopSec=(\d+)$/gm),
    ...named(read("compose.yaml"), /stop_grace_period: (\d+)s/g),
  ];
  for (const each of seconds) expect(Number(each)).toBeGreaterThan(30);
  // One that is killed by an instruction that V8 needs would never start.
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute/m);
});

const analyze = "/usr/bin/systemd-analyze";

test.skipIf(!existsSync(analyze))("systemd accepts the units (needs systemd)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-units-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The program that they start is not installed here.
  const paths = unitFiles.map((file) => {
    const path = join(folder, file.replace(`${dirname(file)}/`, ""));
    writeFileSync(path, read(file).replaceAll("/usr/local/bin/esimctl", "/bin/true"));
    return path;
  });
  const { exitCode, stderr } = await launchCommand(analyze, ["verify", ...paths]).ended;
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  writeFileSync(paths[0] ?? "", `${readFileSync(paths[0] ?? "", "utf8")}\nNoSuchSetting=1\n`);
  expect((await launchCommand(analyze, ["verify", ...paths]).ended).stderr).toContain("NoSuchSetting");
});
