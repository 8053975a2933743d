import { describe, expect, test } from "vitest";
import type { ProviderAnswer } from "../src/daemon/simulators/provider.ts";
import { answering, asked, REFERENCE, run, startAdapter, TOKEN } from "./support/providers/airalo-adapter.ts";

const noted = { stage: "order", token: TOKEN, looks: 0, silent: 0 };

describe("limits", () => {
  test("an order that a limit turns away is known not to be sent, and is made after the wait", async () => {
    const { airalo, script, clock, double } = await startAdapter();
    script("POST", "/orders", answering(429, { message: "Too Many Attempts." }, { "retry-after": "7" }));
    const { last, memory } = await run(airalo.buy, asked());
    expect([last, memory]).toEqual([{ kind: "busy", waitMs: 7_000 }, null]);
    // The account is blocked for all nodes until then.
    const blocked = await run(airalo.buy, asked({ memory }));
    expect(blocked.last).toEqual({ kind: "busy", waitMs: 7_000 });
    clock.advance(7_000);
    expect((await run(airalo.buy, asked({ memory: blocked.memory }))).last).toMatchObject({ kind: "bought" });
    expect(double.state().bought).toBe(1);
  });

  test("five calls a second of the account; a look-up waits for its turn", async () => {
    const { airalo, clock } = await startAdapter();
    const purchases = Array.from({ length: 8 }, (_, at) => asked({ reference: `${REFERENCE}${at}` }));
    const ends = [];
    for (const one of purchases) ends.push((await run(airalo.buy, one)).last.kind);
    // The token is a call too, and has a limit of its own.
    expect(ends).toEqual([...Array(4).fill("bought"), ...Array(4).fill("busy")]);
    expect(await airalo.buy(asked({ memory: { ...noted, since: clock.now() } }))).toEqual({
      kind: "busy",
      waitMs: 1_000,
    });
    // The turn is taken before the order is noted: a process that ends meanwhile leaves nothing to look for.
    expect(await airalo.buy(asked())).toEqual({ kind: "busy", waitMs: 1_000 });
    clock.advance(1_000);
    expect((await run(airalo.buy, asked())).last.kind).toBe("bought");
  });

  test("a limit of one kind of call holds up no other", async () => {
    const { airalo, script, clock } = await startAdapter();
    const limited = answering(429, { message: "Too Many Attempts." }, { "retry-after": "60" });
    script("GET", "/packages", limited);
    await expect(airalo.catalog()).rejects.toMatchObject({ slug: "supplier_unreachable", message: /60 s/ });
    clock.advance(1_000);
    expect((await run(airalo.buy, asked())).last.kind).toBe("bought");
  });
});

describe("the token", () => {
  const tokens = (requests: { path: string }[]) => requests.filter(({ path }) => path === "/token").length;

  test("is one for all nodes, also when many need it at once", async () => {
    const { airalo, node, requests, clock } = await startAdapter();
    await Promise.all([airalo.balance(), airalo.balance(), airalo.balance()]);
    clock.advance(1_000);
    await node().balance();
    expect(tokens(requests)).toBe(1);
  });

  test.each([
    [86_400, 86_100],
    [31_622_400, 86_100],
    ["3600", 3_300],
    [60, 30],
    [undefined, 86_100],
  ])("with expires_in %j is used for %s s", async (expires_in, seconds) => {
    const { airalo, script, requests, clock } = await startAdapter();
    const shown = (ordinary: () => ProviderAnswer) => {
      // biome-ignore lint/suspicious/noExplicitAny: the double's token
      const { data } = ordinary().body as any; // what it gives
      return { status: 200, body: { data: { ...data, expires_in } } };
    };
    script("POST", "/token", shown);
    await airalo.balance();
    clock.advance(seconds * 1_000 - 1);
    await airalo.balance();
    expect(tokens(requests)).toBe(1);
    clock.advance(1);
    await airalo.balance();
    expect(tokens(requests)).toBe(2);
  });

  test("that is no longer taken is replaced once, and the call is repeated", async () => {
    const { airalo, double, requests, clock } = await startAdapter();
    await airalo.balance();
    clock.advance(1_000);
    double.reset();
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "bought" });
    expect([tokens(requests), double.state().bought]).toEqual([2, 1]);
  });

  test("that a new one is not taken either is a fault of the account", async () => {
    const { airalo, script, requests } = await startAdapter();
    const never = answering(401, { data: [], meta: { message: "This action is unauthorized." } });
    script("POST", "/orders", never, never);
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "refused", code: "401", because: "account" });
    expect(tokens(requests)).toBe(2);
  });

  test("that another node has replaced is taken, and not asked for", async () => {
    const { airalo, node, double, script, requests, clock } = await startAdapter();
    await airalo.balance();
    clock.advance(1_000);
    double.reset();
    const other = node();
    script("GET", "/balance", async (ordinary) => {
      const refused = ordinary();
      await other.balance();
      return refused;
    });
    await airalo.balance();
    expect(tokens(requests)).toBe(2);
  });

  test("stays where an address is not allowed", async () => {
    const { airalo, script, requests, clock } = await startAdapter();
    script("POST", "/orders", answering(403, { code: 89, reason: "The address is not allowed" }));
    expect((await run(airalo.buy, asked())).last).toMatchObject({ kind: "refused", code: "89", because: "account" });
    clock.advance(1_000);
    await airalo.balance();
    expect(tokens(requests)).toBe(1);
  });

  test("that is refused makes the account refused", async () => {
    const { node, clock, requests } = await startAdapter();
    const bad = node("DEMO_CLIENT:wrong:secret");
    expect((await run(bad.buy, asked())).last).toMatchObject({ kind: "refused", code: "401", because: "account" });
    clock.advance(60_000);
    const stranger = node("SOMEONE:DEMO_CLIENT_SECRET");
    const end = (await run(stranger.buy, asked())).last;
    expect(end).toMatchObject({ kind: "refused", code: "validation", because: "account" });
    expect(requests[0]?.body).toContain("client_secret=wrong%3Asecret");
  });

  test("is asked for three times a minute, and not more", async () => {
    const { airalo, script } = await startAdapter();
    script("POST", "/token", ...Array(3).fill(answering(500, undefined)));
    const ends = [];
    for (let times = 0; times < 4; times++) ends.push((await run(airalo.buy, asked())).last);
    expect(ends.map(({ kind }) => kind)).toEqual(["unsent", "unsent", "unsent", "busy"]);
    expect(ends[3]).toEqual({ kind: "busy", waitMs: 60_000 });
  });
});
