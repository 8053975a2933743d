import { join } from "node:path";
import type { Ended } from "./cli.ts";
import { startDaemon } from "./daemon.ts";
import { type Credential, demoData } from "./installation.ts";
import { type Owner, thisTest } from "./owner.ts";
import { temporaryDirectory } from "./store.ts";
import { esimctl } from "./warm.ts";

/** A demo installation that is served; `operator` runs a command on its data. */
export async function servedDemo(owner: Owner = thisTest) {
  const { data, credentials } = await demoData(temporaryDirectory(owner));
  const daemon = await startDaemon({ data, owner });
  const operator = (line: string) => document(esimctl([...line.split(" "), "--data", data, "--json"]));
  return { data, credentials, daemon, operator };
}

type Installation = Awaited<ReturnType<typeof servedDemo>>;

/** A person elsewhere, for one test: an empty folder to be in, and no login yet. */
function personElsewhere({ daemon }: Pick<Installation, "daemon">) {
  const home = temporaryDirectory();
  const folder = join(home, "esimctl", "profiles");
  const cwd = temporaryDirectory();
  const run = (line: string, more: { env?: Record<string, string>; input?: string; cwd?: string } = {}) =>
    esimctl(line.split(" "), { cwd, ...more, env: { XDG_CONFIG_HOME: home, ...more.env } });
  const login = ({ client_id, client_secret }: Credential, { url = daemon.url, more = "" } = {}) =>
    run(`login ${url} --client-id ${client_id} --client-secret - ${more}`.trim(), { input: `${client_secret}\n` });
  return { home, folder, cwd, run, login, json: (line: string) => document(run(`${line} --json`)) };
}

/** A demo installation that is served, and a person elsewhere with the credentials of its partner `demo`. */
export async function served() {
  const all = await servedDemo();
  const credential = (environment: string): Credential => {
    const found = all.credentials.find((one) => one.environment === environment);
    if (found === undefined) throw new Error(`the demo has no ${environment} credential`);
    return found;
  };
  return { ...all, ...personElsewhere(all), live: credential("production"), sandbox: credential("sandbox") };
}

/** A new partner with the rights of `demo` and with funds, and a person elsewhere who acts for it. */
export async function newPartner(all: Installation, slug: string) {
  const { operator } = all;
  await operator(`partners create ${slug} --name ${slug} --tier premium --agent --production`);
  await operator(`wallet credit --partner ${slug} --amount 1000.00 --currency AUD`);
  const live: Credential = await operator(`credentials create --partner ${slug} --live`);
  const sandbox: Credential = await operator(`credentials create --partner ${slug}`);
  return { ...all, ...personElsewhere(all), slug, live, sandbox };
}

/** What a command printed with --json; throws unless it succeeded. */
// biome-ignore lint/suspicious/noExplicitAny: documents are looked into member by member
export async function document(running: Promise<Ended>): Promise<any> {
  const { exitCode, stdout, stderr } = await running;
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

/** A file of made-up travelers. */
export function travelerCsv(count: number): string {
  const head = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry";
  const row = (at: number) => `Ada,Traveler${at},1975-03-13,XA${String(at).padStart(7, "0")},GBR,2039-02-14`;
  return `${head}\n${Array.from({ length: count }, (_, at) => row(at)).join("\n")}\n`;
}
