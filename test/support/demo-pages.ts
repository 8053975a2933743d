import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startDaemon } from "./daemon.ts";
import { demoData } from "./installation.ts";
import { type Owner, thisTest } from "./owner.ts";
import { totpCode } from "./pages.ts";
import { call, type Reply } from "./platform.ts";
import { temporaryDirectory } from "./store.ts";
import { esimctlJson } from "./warm.ts";

const CODE_MS = 30_000;

/** A person who may sign in to the pages of a demo installation. */
export interface DemoPerson {
  email: string;
  password: string;
  /** The code that the person's app shows; each is accepted once, so it moves the clock on. "" without an app. */
  code(): string;
}

/** A demo installation that a process of its own serves, by a clock that tests move. */
export type DemoPages = Awaited<ReturnType<typeof startDemoPages>>;

/** Starts it; browsers know it by the name under which they allow passkeys. */
export async function startDemoPages(owner: Owner = thisTest) {
  const folder = temporaryDirectory(owner);
  const { data, credentials } = await demoData(folder);
  const clock = join(folder, "clock");
  let ahead = 0;
  const later = (ms: number) => {
    ahead += ms;
    writeFileSync(clock, String(ahead));
  };
  later(0);
  const preload = pathToFileURL(join(import.meta.dirname, "moved-clock.mjs")).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, MOVED_CLOCK: clock };
  const daemon = await startDaemon({ data, env, owner, flags: ["--allow-private-webhooks"] });
  /** The codes of an authenticator app that was given this secret. */
  const app = (secret: string) => () => {
    later(CODE_MS);
    return totpCode(secret, Date.now() + ahead);
  };
  return {
    url: `http://localhost:${daemon.port}`,
    app,
    later,
    now: () => Date.now() + ahead,
    /** A command of the operator at the terminal, on the same data. */
    // biome-ignore lint/suspicious/noExplicitAny: documents are looked into member by member
    operator: (...args: string[]): Promise<any> => esimctlJson([...args, "--data", data]),
    /** The demo's own owner of the partner, or its own admin. */
    demoPerson: (face: "portal" | "console"): DemoPerson => personIn(data, face, app),
    /** The partner's program. */
    program: (environment: "production" | "sandbox" = "production") => {
      const found = credentials.find((one) => one.environment === environment);
      if (found === undefined) throw new Error(`the demo has no ${environment} credential`);
      return programAt(daemon.url, found);
    },
  };
}

function personIn(data: string, face: "portal" | "console", app: (secret: string) => () => string): DemoPerson {
  const { users } = JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8"));
  const found = users.find((user: { face: string }) => user.face === face);
  return { email: found.email, password: found.password, code: found.totp === null ? () => "" : app(found.totp) };
}

/** A program that calls the API with a token of its own; throws what is refused. */
async function programAt(url: string, credential: { client_id: string; client_secret: string }) {
  const { client_id, client_secret } = credential;
  const json = { "content-type": "application/json" };
  const grant = JSON.stringify({ grant_type: "client_credentials", client_id, client_secret });
  const { body } = await call(`${url}/api/v1/oauth/token`, { method: "POST", headers: json, body: grant });
  const headers = { ...json, authorization: `Bearer ${body.access_token}` };
  const done = (path: string, { status, body: answer }: Reply) => {
    if (status >= 400) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    get: async (path: string) => done(path, await call(`${url}/api/v1${path}`, { headers })),
    send: async (path: string, asked: unknown) => {
      const keyed = { ...headers, "idempotency-key": crypto.randomUUID() };
      const init = { method: "POST", headers: keyed, body: JSON.stringify(asked) };
      return done(path, await call(`${url}/api/v1${path}`, init));
    },
  };
}
