import Stripe from "stripe";
import { expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { eventually } from "./support/hangs.ts";
import { launch } from "./support/process.ts";
import { type Received, startReceiver } from "./support/receiver.ts";
import { flags, webhookShops } from "./support/webhook-shop.ts";

const SECRET = "whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/** What a receiver got, without what differs between two attempts. */
const messages = (received: readonly Received[]) =>
  received
    .map(({ body, headers }) => ({
      body,
      named: ["content-type", "user-agent", "x-webhook-id", "x-webhook-event"].map((name) => headers[name]),
    }))
    .sort((one, other) => one.body.localeCompare(other.body));

const { webhooks: stripe } = new Stripe("sk_test_none");

const { shop } = webhookShops();

test("Ctrl-C finishes the event that is being posted, and --after goes on behind it, each event once", {
  tags: ["slow"],
}, async () => {
  const { atServer } = await shop("echo");
  const behind = await startReceiver();
  const partner = await atServer();
  const order = "orders create --product ES-EU-5GB-30D --quantity 1";
  const listen = ["webhooks", "listen", "--forward-to", behind.url, "--secret", SECRET, "--json", ...partner.as];
  const { pagination } = await partner.json("events list");
  for (let count = 0; count < 2; count++) await partner.json(order);
  const { data: all } = await eventually(
    () => partner.json("events list --all"),
    ({ data }) => data.filter(({ event }: { event: string }) => event === "esims.ready").length === 2,
  );

  const held = Promise.withResolvers<() => void>();
  behind.answers((_, response, count) => {
    const answer = () => void response.writeHead(200).end("ok");
    // The second of the page.
    if (count === 2) held.resolve(answer);
    else answer();
  });
  const relay = launch([...listen, "--after", pagination.next_cursor]);
  const answer = await held.promise;
  const ended = relay.end("SIGINT");
  await relay.printed("Ending after the event that is being posted", "stderr");
  answer();
  const { exitCode, stderr, stdout } = await ended;
  expect([exitCode, stdout.trim().split("\n").length]).toEqual([130, 2]);
  const [, after = ""] = /--after (\S+)/.exec(stderr) ?? [];
  expect(behind.received.map(({ json }) => json)).toEqual(all.slice(0, 2));

  behind.answers(200);
  const next = launch([...listen, "--after", after]);
  await behind.got(all.length);
  await next.line(all.length - 3);
  const last = await next.end("SIGINT");
  expect(behind.received.map(({ json }) => json)).toEqual(all);
  // Nothing is left: the cursor of the end.
  const [, end = ""] = /--after (\S+)/.exec(last.stderr) ?? [];
  expect((await partner.json(`events list --after ${end}`)).data).toEqual([]);
  expect(await partner.run(`webhooks listen --forward-to ${behind.url} --after x`)).toMatchObject({ exitCode: 1 });
});

test("listen --forward-to alone passes the feed on, each event once, over a restart of the server", {
  tags: ["slow"],
}, async () => {
  const { data, daemon, atServer, json } = await shop("delta");
  const [endpoint, behind] = [await startReceiver(), await startReceiver()];
  const partner = await atServer();
  const order = "orders create --product ES-EU-5GB-30D --quantity 1";
  await partner.json(order);
  const events = (orders: number) =>
    eventually(
      async (): Promise<{ event: string }[]> => (await partner.json("events list --all")).data,
      (all) => all.filter((one) => one.event === "esims.ready").length === orders,
    );
  const before = (await events(1)).length;
  const { secret } = await partner.json(`webhooks create ${endpoint.url} --events *`);
  const listen = ["webhooks", "listen", "--forward-to", behind.url];
  const relay = launch([...listen, "--secret", secret, "--json", ...partner.as]);
  await relay.printed("(Ctrl-C stops it)", "stderr");

  await partner.json(order);
  const count = (await events(2)).length - before;
  await Promise.all([endpoint.got(count), behind.got(count)]);
  expect(messages(behind.received)).toEqual(messages(endpoint.received));
  for (const { body, headers, json: event } of behind.received) {
    expect(stripe.constructEvent(body, headers["x-webhook-signature"] ?? "", secret)).toEqual(event);
  }

  behind.answers(503);
  await daemon.stop();
  await relay.printed(/cannot be reached.*Trying again/, "stderr");
  await json(`${order} --partner delta --sandbox`);
  await startDaemon({ data, port: daemon.port, flags });
  await partner.json(order);
  const all = (await events(4)).slice(before);
  await behind.got(all.length);
  const last = JSON.parse(await relay.line(all.length - 1));
  expect(last).toMatchObject({ valid: true, ...all.at(-1), forwarded: { url: behind.url, status: 503 } });
  expect(behind.received.map((one) => one.json)).toEqual(all);
  expect(await relay.end("SIGINT")).toMatchObject({ exitCode: 130 });
  expect(behind.received).toHaveLength(all.length);

  // On the data itself, under a secret of its own.
  behind.answers(200);
  const local = launch([...listen, "--data", data, "--partner", "delta", "--sandbox"]);
  const made = /whsec_\S+/.exec(await local.printed("signing secret of this run", "stderr"))?.[0] ?? "";
  await local.printed("(Ctrl-C stops it)", "stderr");
  await partner.json(order);
  expect(await local.line(0)).toMatch(/order\.created +[0-9a-f-]{36}$/);
  expect(await local.printed("→")).toMatch(/→ http:\S+ answered 200 in \d+ ms/);
  const [received] = behind.received.slice(all.length);
  const header = received?.headers["x-webhook-signature"] ?? "";
  expect(stripe.constructEvent(received?.body ?? "", header, made)).toEqual(received?.json);
});
