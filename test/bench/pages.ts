import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOrCreate } from "../../src/cli/place/local-store.ts";
import { acceptInvitation } from "../../src/core/accounts/accept-invitation.ts";
import { inviteUser } from "../../src/core/accounts/invite.ts";
import { hashPassword } from "../../src/core/accounts/password.ts";
import { openSession } from "../../src/core/accounts/sessions.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { type Bench, compare, type Measured, type Scale } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { type Installation, install, type Served, serveInstallation } from "./installation.ts";

const CONNECTIONS = 32;
/** Orders that a page of the portal shows. */
const PAGE = 50;
/** Requests of a round, as a share of a scale's items: each costs as much as several reads of one record. */
const SHARE = 1 / 4;
/** Sign-ins that are under way at one moment, each of a person of its own. */
const SIGN_INS = 50;
/** Between two looks at /healthz (ms). */
const PAUSE_MS = 10;
const PASSWORD = "violet otter runs 42";

/**
 * The portal's list of orders against the API's of the same orders, as the built program serves them: what a page costs
 * beside its data. And `/healthz` while passwords are verified, against itself when nothing else is done.
 */
export const pages: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-pages-"));
  try {
    const orders = scale.items * 100;
    const installed = await install(join(folder, "data"), { orders, stock: 0 });
    const people = await addPeople(installed);
    const served = await serveInstallation(installed);
    try {
      const what = `the portal's orders, ${PAGE} of ${orders.toLocaleString("en")}`;
      return [
        await againstApi(scale, served, { what, session: people.session }),
        await besideSignIns(scale, served, people),
      ];
    } finally {
      await served.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

interface People {
  /** The cookie of one who is signed in. */
  session: string;
  emails: string[];
}

async function addPeople({ data, partnerId }: Installation): Promise<People> {
  const ids = randomIds();
  const { store } = await openOrCreate({ kind: "directory", path: data, given: [] }, { clock: systemClock, ids });
  const passwordHash = await hashPassword(ids, PASSWORD);
  const emails: string[] = [];
  let session = "";
  for (let at = 0; at < SIGN_INS; at++) {
    const email = `person-${at}@example.com`;
    const { token } = await store.write(inviteUser, { email, role: "owner", partnerId, actor: "bench" });
    const { userId } = await store.write(acceptInvitation, { token, name: `Person ${at}`, passwordHash });
    session = await store.write(openSession, { userId, partnerId, agent: "bench", factor: false });
    emails.push(email);
  }
  await store.close();
  return { session: `__Host-esimctl=${session}`, emails };
}

function againstApi(
  scale: Scale,
  { url, token, cpu }: Served,
  { what, session }: { what: string } & Pick<People, "session">,
): Promise<Measured> {
  const load = (path: string, headers: Record<string, string>) => (amount: number) =>
    httpLoad({ url: `${url}${path}`, connections: CONNECTIONS, amount, headers });
  return compare(
    { ...scale, items: Math.ceil(scale.items * SHARE) },
    {
      what,
      peer: `GET /orders?limit=${PAGE}`,
      ours: load("/portal/orders", { cookie: session }),
      bare: load(`/api/v1/orders?limit=${PAGE}`, { authorization: `Bearer ${token}` }),
      cpu: cpu && { ours: cpu, bare: cpu },
    },
  );
}

/**
 * One connection that asks every few ms: what a load balancer would wait. Without pauses most requests would fall
 * between two that wait, and hide them.
 */
function besideSignIns(scale: Scale, { url }: Served, { emails }: People): Promise<Measured> {
  const look = (amount: number) => httpLoad({ url: `${url}/healthz`, connections: 1, amount, pauseMs: PAUSE_MS });
  return compare(
    { ...scale, items: Math.ceil(scale.items / 10) },
    {
      what: `/healthz during ${SIGN_INS} sign-ins at once`,
      peer: "the same without them",
      async ours(amount) {
        const stop = await signInAlways(url, emails);
        return look(amount).finally(stop);
      },
      bare: look,
    },
  );
}

/** Signs each of these people in, again and again, until the result is called. Throws where one was refused. */
async function signInAlways(url: string, emails: readonly string[]): Promise<() => Promise<void>> {
  const form = await fetch(`${url}/portal/sign-in`);
  const cookie = form.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? "";
  let isOver = false;
  async function signIn(email: string): Promise<void> {
    while (!isOver) {
      const body = new URLSearchParams({ _csrf, email, password: PASSWORD });
      const sent = await fetch(`${url}/portal/sign-in`, {
        method: "POST",
        headers: { cookie },
        body,
        redirect: "manual",
      });
      if (sent.status !== 303) throw new Error(`a sign-in was answered with ${sent.status}: ${await sent.text()}`);
    }
  }
  const all = Promise.all(emails.map(signIn));
  all.catch(() => undefined);
  return async () => {
    isOver = true;
    await all;
  };
}
