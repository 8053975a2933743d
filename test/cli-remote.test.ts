import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Ended } from "./support/cli.ts";
import { freePort } from "./support/free-port.ts";
import { eventually } from "./support/hangs.ts";
import { forAllTests } from "./support/owner.ts";
import { launch } from "./support/process.ts";
import { newPartner, servedDemo, travelerCsv } from "./support/remote.ts";
import { startUnrulyProxy } from "./support/unruly-proxy.ts";
import { esimctl } from "./support/warm.ts";

const fixtures = join(import.meta.dirname, "..", "fixtures");

const installation = forAllTests(servedDemo);
let partners = 0;

/** A partner of its own for each test, on the one daemon of this file. */
const served = () => newPartner(installation(), `partner-${++partners}`);

/** Logged in by way of a proxy that misbehaves on request. */
async function unruly() {
  const all = await served();
  const proxy = await startUnrulyProxy(all.daemon.url);
  expect(await all.login(all.live, { url: proxy.url })).toMatchObject({ exitCode: 0 });
  proxy.seen.length = 0;
  return { ...all, ...proxy, proxy };
}

const times = (seen: string[], line: RegExp) => seen.filter((one) => line.test(one)).length;

function failed(ended: Ended) {
  return { exitCode: ended.exitCode, ...JSON.parse(ended.stdout).error };
}

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("login, whoami, logout", () => {
  test("a login is readable by its owner only, shown without its secret, and removed entirely", async () => {
    const { folder, run, login, live, daemon, json } = await served();
    const signed = await login(live);
    expect(signed).toMatchObject({ exitCode: 0 });
    expect(signed.stdout).toContain(live.client_id);
    expect(mode(folder)).toBe("700");
    expect(readdirSync(folder).sort()).toEqual(["default.json", "default.token.json"]);
    for (const file of readdirSync(folder)) expect(mode(join(folder, file))).toBe("600");

    const who = await run("whoami");
    const known = await json("whoami");
    expect(known).toMatchObject({
      place: "server",
      server: daemon.url,
      profile: "default",
      client_id: live.client_id,
      partner_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      environment: "production",
      scopes: expect.arrayContaining(["read:orders", "write:webhooks"]),
    });
    expect(Date.parse(known.token_expires_at) - Date.now()).toBeGreaterThan(50 * 60_000);
    const token = JSON.parse(readFileSync(join(folder, "default.token.json"), "utf8")).access_token;
    for (const { stdout, stderr } of [signed, who]) {
      expect(stdout + stderr).not.toContain(live.client_secret);
      expect(stdout + stderr).not.toContain(token);
    }

    expect(await json("logout")).toEqual({ profile: "default", server: daemon.url, removed: true });
    expect(readdirSync(folder)).toEqual([]);
    expect(failed(await run("logout --json"))).toMatchObject({ exitCode: 1, code: "not_logged_in" });
    expect((await run("orders list")).stderr).toMatch(/no esimctl data.*\n.*esimctl login/);
  });

  test("missing values are named where there is no terminal", async () => {
    const { run, daemon } = await served();
    expect((await run("login")).stderr).toMatch(/address is needed.*\n.*esimctl login https/);
    expect((await run(`login ${daemon.url}`)).stderr).toMatch(/--client-id is needed/);
    expect((await run(`login ${daemon.url} --client-id sk_live_1`)).stderr).toMatch(/--client-secret is needed/);
    expect(await run("login nowhere")).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/https:\/\//) });
  });

  test("a wrong secret is refused and nothing is kept; so is a suspended partner", async () => {
    const { folder, run, login, live, operator, slug } = await served();
    const wrong = await login({ ...live, client_secret: `${live.client_secret}x` }, { more: "--json" });
    expect(failed(wrong)).toMatchObject({ exitCode: 4, code: "invalid_client", hint: /secret/ });
    const cut = await login({ ...live, client_secret: "short" }, { more: "--json" });
    expect(failed(cut)).toMatchObject({ exitCode: 4, code: "invalid_request", hint: expect.stringMatching(/whole/) });
    expect(existsSync(folder)).toBe(false);

    expect(await login(live)).toMatchObject({ exitCode: 0 });
    await operator(`partners suspend ${slug} --yes`);
    expect(failed(await login(live, { more: "--json" }))).toMatchObject({ exitCode: 4, code: "unauthorized_client" });
    // The cached token is no longer valid.
    for (const line of ["orders list", "whoami"]) {
      const refused = failed(await run(`${line} --json`));
      expect(refused).toMatchObject({ exitCode: 4, message: expect.stringMatching(/suspended/) });
    }
    await operator(`partners resume ${slug}`);
    expect(await run("orders list")).toMatchObject({ exitCode: 0 });
  });

  test("find lists the partner's own records at a server", async () => {
    const { json, run, login, sandbox, operator, slug } = await served();
    await login(sandbox);
    await run(`passports import ${join(fixtures, "passports.csv")}`);
    const found = await json("find OTTO");
    expect(found).toEqual({
      data: [expect.objectContaining({ kind: "passport", name: "GBR", person: "Ottoline Farrowgate" })],
      count: 1,
      truncated: [],
    });
    const shown = (await run("find farrow")).stdout;
    expect(shown).toMatch(/passport.*Ottoline Farrowgate/);
    expect(await operator(`find ottoline --partner ${slug} --sandbox`)).toEqual(found);
    expect(failed(await run("find unknown --json"))).toMatchObject({ exitCode: 1, code: "not_found" });
    expect(failed(await run("find ottoline --reveal --json"))).toMatchObject({ code: "operator_only" });
  });

  test("profiles by name: the one last logged in is used, --profile and ESIMCTL_PROFILE choose another", async () => {
    const { login, json, run, live, sandbox } = await served();
    await login(live);
    await login(sandbox, { more: "--profile try-out" });
    expect(await json("whoami")).toMatchObject({ profile: "try-out", environment: "sandbox" });
    expect(await json("whoami --profile default")).toMatchObject({ environment: "production" });
    const chosen = await run("whoami --json", { env: { ESIMCTL_PROFILE: "default" } });
    expect(JSON.parse(chosen.stdout)).toMatchObject({ profile: "default" });
    const unknown = await run("whoami --profile ghost");
    expect(unknown).toMatchObject({ exitCode: 1 });
    expect(unknown.stderr).toMatch(/ghost\. There are: default, try-out\./);
    expect(await run("whoami --profile ../x")).toMatchObject({ exitCode: 2 });
    expect(await json("logout")).toMatchObject({ profile: "try-out" });
    expect(await json("whoami")).toMatchObject({ profile: "default" });
  });

  test("one token serves many commands, and is replaced once refused", async () => {
    const { run, folder, seen } = await unruly();
    for (let round = 0; round < 5; round++) expect(await run("products list")).toMatchObject({ exitCode: 0 });
    const file = join(folder, "default.token.json");
    const kept = JSON.parse(readFileSync(file, "utf8"));
    // Nearly over: it may not outlive the request.
    writeFileSync(file, JSON.stringify({ ...kept, expires_at: Date.now() + 5_000 }));
    expect(await run("orders list")).toMatchObject({ exitCode: 0 });
    // Not one of the server's.
    writeFileSync(file, JSON.stringify({ ...kept, access_token: "made-up" }));
    expect(await run("orders list")).toMatchObject({ exitCode: 0 });
    // Cut short by a full disk.
    writeFileSync(file, '{"access_tok');
    expect(await run("orders list")).toMatchObject({ exitCode: 0 });
    expect(await run("orders list")).toMatchObject({ exitCode: 0 });
    // And one before, by the login.
    expect(times(seen, /^POST .*oauth.token/)).toBe(3);
  });
});

describe("where a command acts", () => {
  test("the first that applies: options, ESIMCTL_SERVER, ESIMCTL_DATA, a profile, ./esimctl-data", async () => {
    const { login, run, live, sandbox, daemon, data } = await served();
    const place = async (line: string, env: Record<string, string> = {}, cwd?: string) => {
      const how = cwd === undefined ? { env } : { env, cwd };
      const ended = await run(`whoami --json ${line}`.trim(), how);
      const known = JSON.parse(ended.stdout);
      return known.error?.code ?? known.profile ?? known.environment ?? known.data;
    };
    const server = {
      ESIMCTL_SERVER: daemon.url,
      ESIMCTL_CLIENT_ID: sandbox.client_id,
      ESIMCTL_CLIENT_SECRET: sandbox.client_secret,
    };
    const flags = `--server ${daemon.url}/api/v1/ --client-id ${live.client_id} --client-secret ${live.client_secret}`;
    const here = join(data, "..", "here");
    await esimctl(["init", "--data", join(here, "esimctl-data")]);

    // A process knows its own folder by the path without links.
    expect(await place("", {}, here)).toBe(join(here, "esimctl-data"));
    await login(live);
    expect(await place("", {}, here)).toBe("default");
    expect(await place("", { ESIMCTL_DATA: data }, here)).toBe(data);
    expect(await place("--profile default", { ESIMCTL_DATA: data })).toBe(data);
    expect(await place("", { ESIMCTL_DATA: data, ...server })).toBe("sandbox");
    expect(await place(`--data ${data}`, server)).toBe(data);
    expect(await place(flags, { ESIMCTL_DATA: data, ...server })).toBe("production");
  });

  test("contradicting or unsupported options are wrong usage, with a hint", async () => {
    const { login, run, live, sandbox, daemon, data, slug } = await served();
    await login(live);
    const wrong: [line: string, what: RegExp, hint: RegExp][] = [
      [`orders list --server ${daemon.url} --data ${data}`, /--server and --data name two places/, /one of them/],
      [`orders list --server ${daemon.url} --database x`, /--server and --database name two/, /one of them/],
      [`orders list --data ${data} --client-id x`, /--client-id goes with --server/, /Add --server/],
      ["orders list --client-secret x", /--client-secret goes with --server/, /Add --server/],
      ["orders list --server example.com", /no address/, /https:\/\//],
      ["orders list --server https://a:b@example.com", /no address/, /https:\/\//],
      [`orders list --server ${daemon.url}`, /--client-id is needed/, /Add --client-id/],
      ["orders list --partner demo", /--partner does not apply at http.*profile default/, /--data DIR/],
      ["products list --sandbox", /--sandbox does not apply at http/, /sk_test_/],
      ["partners list", /operator's own data.*act at http.*profile default/, /--data DIR/],
      ["passports show 1 --reveal", /operator's own data/, /--data DIR/],
      [`init --server ${daemon.url}`, /acts on local data/, /--data/],
      ["passports withdraw 019c --json", /needs a confirmation.*http.*profile default/, /--yes/],
    ];
    for (const [line, what, hint] of wrong) {
      const ended = await run(`${line}${line.endsWith("--json") ? "" : " --json"}`);
      expect(failed(ended), line).toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(what),
        hint: expect.stringMatching(hint),
      });
      expect(ended.stderr, line).toBe("");
    }
    // Serving and making data works on local data only.
    expect(await run("init --json", { env: { ESIMCTL_SERVER: daemon.url } })).toMatchObject({ exitCode: 0 });
    const scoped = await esimctl([
      ...`credentials create --partner ${slug} --scope read:orders --json --data ${data}`.split(" "),
    ]);
    const narrow = JSON.parse(scoped.stdout);
    await login(narrow, { more: "--profile narrow" });
    expect(await run("whoami")).toMatchObject({ exitCode: 0 });
    expect(failed(await run("products list --json"))).toMatchObject({ exitCode: 4, code: "insufficient_scope" });
    expect(sandbox.client_id).not.toBe(narrow.client_id);
  });
});

describe("a server that is slow or fails", () => {
  test("429 is retried after Retry-After, any number of times, by reads and writes, without a message", {
    tags: ["slow"],
  }, async () => {
    const { run, misbehave, seen } = await unruly();
    misbehave(/^POST .*orders/, "limit", 2);
    misbehave(/^GET .*products/, "limit");
    const began = performance.now();
    const ended = await run("orders create --product ES-EU-5GB-30D --quantity 1 --json");
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(performance.now() - began).toBeGreaterThan(3000);
    expect(times(seen, /^POST .*orders/)).toBe(3);
  });

  test("a token that expires is replaced once; a second refusal ends the command", async () => {
    const { run, misbehave, seen } = await unruly();
    misbehave(/balance/, "expire");
    expect(await run("wallet balance")).toMatchObject({ exitCode: 0 });
    expect(times(seen, /oauth/)).toBe(1);
    misbehave(/balance/, "expire", 2);
    expect(failed(await run("wallet balance --json"))).toMatchObject({ exitCode: 4, code: "token_expired" });
  });

  test("reads are retried after a fault; a write only where it is idempotent", { tags: ["slow"] }, async () => {
    const { run, json, misbehave, seen, operator } = await unruly();
    misbehave(/GET .*balance/, "hang up");
    misbehave(/GET .*balance/, "unavailable");
    expect(await run("wallet balance")).toMatchObject({ exitCode: 0 });
    expect(times(seen, /balance/)).toBe(3);

    misbehave(/POST .*orders$/, "lose the answer", 2);
    const order = await json("orders create --product ES-EU-5GB-30D --quantity 1");
    expect((await json("orders list")).data.map(({ id }: { id: string }) => id)).toEqual([order.id]);

    misbehave(/POST .*kyc/, "lose the answer");
    const pool = await json(`passports import ${join(fixtures, "passports.csv")}`);
    expect(pool).toMatchObject({ imported: 0, rejected: 0, duplicates: pool.read });
    expect((await json("passports list --all")).count).toBe(pool.read);

    seen.length = 0;
    misbehave(/POST .*webhooks/, "lose the answer");
    const lost = await run("webhooks create https://shop.example.com/hooks --events order.created --json");
    expect(failed(lost)).toMatchObject({
      exitCode: 1,
      code: "connection_lost",
      message: expect.stringMatching(/whether it was done is not known/),
      hint: expect.stringMatching(/Look whether/),
    });
    expect(times(seen, /POST .*webhooks/)).toBe(1);
    expect((await json("webhooks list")).data).toHaveLength(1);

    misbehave(/POST .*orders$/, "hang up", 9);
    const given = await run("orders create --product ES-EU-5GB-30D --quantity 1 --idempotency-key k-7 --json");
    expect(failed(given).hint).toContain("--idempotency-key k-7");
    expect(await operator("wallet check")).toMatchObject({ ok: true });
  });

  test("another kind of server, or none, is reported with a message", { tags: ["slow"] }, async () => {
    const { run, misbehave, daemon, proxy, live } = await unruly();
    const as = `--client-id ${live.client_id} --client-secret ${live.client_secret}`;
    misbehave(/balance/, "page");
    expect(failed(await run("wallet balance --json"))).toMatchObject({ exitCode: 1, code: "not_esimctl" });
    misbehave(/oauth/, "page");
    const page = await run(`whoami --json --server ${proxy.url} ${as}`);
    expect(failed(page)).toMatchObject({ exitCode: 1, code: "not_esimctl" });
    misbehave(/oauth/, "redirect");
    const moved = await run(`whoami --json --server ${proxy.url} ${as}`);
    expect(failed(moved)).toMatchObject({ code: "moved", message: expect.stringMatching(/elsewhere\.example/) });
    const plain = await run(`whoami --json --server https://127.0.0.1:${daemon.port} ${as}`);
    expect(failed(plain)).toMatchObject({ code: "server_unreachable", hint: expect.stringMatching(/http:\/\//) });
    const gone = await run(`whoami --server http://127.0.0.1:${await freePort()} ${as}`);
    expect(gone).toMatchObject({ exitCode: 1, stdout: "" });
    expect(gone.stderr).toMatch(/^error: 127\.0\.0\.1:\d+ cannot be reached: nothing listens there\.\n→ Check .*\.$/);
  });

  test("Ctrl-C ends a wait at once: with 130, and an import with its summary", { tags: ["slow"] }, async () => {
    const { misbehave, home, seen, cwd } = await unruly();
    const file = join(cwd, "many.csv");
    writeFileSync(file, travelerCsv(600));
    for (const [line, stopped] of [
      [["wallet", "balance"], /^error: Interrupted\./],
      [["passports", "import", file], /^$/],
    ] as const) {
      seen.length = 0;
      misbehave(/balance|kyc/, "limit", 50);
      const { end } = launch(line, { env: { XDG_CONFIG_HOME: home } });
      await eventually(
        () => seen.length,
        (requests) => requests >= 2,
      );
      const { exitCode, stderr, stdout } = await end("SIGINT");
      expect(exitCode).toBe(130);
      expect(stderr).toMatch(stopped);
      if (line[0] === "passports") expect(stdout).toMatch(/imported +0\n[\s\S]*Interrupted\./);
    }
  });
});
