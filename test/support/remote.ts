import { join } from "node:path";
import type { Ended } from "./cli.ts";
import { startDaemon } from "./daemon.ts";
import { type Credential, demoData } from "./installation.ts";
import { temporaryDirectory } from "./store.ts";
import { esimctl } from "./warm.ts";

/** A demo installation that is served, and a person elsewhere: an empty folder to stand in, and no login yet. */
export async function served() {
  const { data, credentials } = await demoData();
  const daemon = await startDaemon({ data });
  const operator = (line: string) => document(esimctl([...line.split(" "), "--data", data, "--json"]));
  const home = temporaryDirectory();
  const folder = join(home, "esimctl", "profiles");
  const cwd = temporaryDirectory();
  const run = (line: string, more: { env?: Record<string, string>; input?: string; cwd?: string } = {}) =>
    esimctl(line.split(" "), { cwd, ...more, env: { XDG_CONFIG_HOME: home, ...more.env } });
  const login = ({ client_id, client_secret }: Credential, { url = daemon.url, more = "" } = {}) =>
    run(`login ${url} --client-id ${client_id} --client-secret - ${more}`.trim(), { input: `${client_secret}\n` });
  const credential = (environment: string): Credential => {
    const found = credentials.find((one) => one.environment === environment);
    if (found === undefined) throw new Error(`the demo has no ${environment} credential`);
    return found;
  };
  return {
    data,
    daemon,
    operator,
    home,
    folder,
    cwd,
    run,
    login,
    json: (line: string) => document(run(`${line} --json`)),
    live: credential("production"),
    sandbox: credential("sandbox"),
  };
}

/** What a command printed with --json; throws unless it succeeded. */
// biome-ignore lint/suspicious/noExplicitAny: documents are looked into member by member
export async function document(running: Promise<Ended>): Promise<any> {
  const { exitCode, stdout, stderr } = await running;
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

/** A file of made-up travellers. */
export function travellerCsv(count: number): string {
  const head = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
  const row = (at: number) => `Ada,Traveller${at},1975-03-13,XA${String(at).padStart(7, "0")},GBR,2039-02-14`;
  return `${head}\n${Array.from({ length: count }, (_, at) => row(at)).join("\n")}\n`;
}
