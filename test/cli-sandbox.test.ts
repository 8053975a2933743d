import { expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { eventually } from "./support/hangs.ts";
import { demoData } from "./support/installation.ts";
import { startReceiver } from "./support/receiver.ts";
import { document } from "./support/remote.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const DAY_MS = 86_400_000;

/** An event as the feed shows it and as it is sent. */
interface Sent {
  event: string;
  event_id: string;
  timestamp: string;
  data: { threshold_percent?: number; days_left?: number };
}

const named = ({ event, data }: Sent) => [event, data.threshold_percent ?? data.days_left ?? []].flat().join(" ");

/** The demo, served by a real daemon, and the terminal at the server and on the operator's data. */
async function served() {
  const { data, credentials } = await demoData(temporaryDirectory());
  const { url } = await startDaemon({ data, flags: ["--allow-private-webhooks"] });
  const signedIn = (environment: "sandbox" | "production") => {
    const { client_id = "", client_secret = "" } = credentials.find((one) => one.environment === environment) ?? {};
    const env = { ESIMCTL_SERVER: url, ESIMCTL_CLIENT_ID: client_id, ESIMCTL_CLIENT_SECRET: client_secret };
    return (line: string) => esimctl(line.split(" "), { env });
  };
  const [partner, live] = [signedIn("sandbox"), signedIn("production")];
  const operator = (line: string) => esimctl([...line.split(" "), "--data", data]);
  return {
    partner,
    live,
    operator,
    json: (line: string) => document(partner(`${line} --json`)),
    localJson: (line: string) => document(operator(`${line} --json`)),
  };
}

const story = [
  ...["order.created", "order.fulfilled", "esims.ready", "esim.activated"],
  ...["esim.data_low 80", "esim.expiring 3", "esim.expiring 1", "esim.expired"],
];

/** The feed has the order of commits. Deliveries are sent side by side; their ids have the same order. */
function expectStory(feed: Sent[], received: Sent[]) {
  expect(feed.map(named)).toEqual(story);
  const sorted = received.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1));
  expect(sorted.map(named)).toEqual(story);
  expect(sorted.map(({ event_id }) => event_id)).toEqual(feed.map(({ event_id }) => event_id));
  const moments = feed.map(({ timestamp }) => timestamp);
  expect(moments).toEqual(moments.toSorted());
}

const title = "buy, activate, use 80 %, expire in the sandbox by clock within ten seconds, events in causal order";

test(`a partner at a server, and the operator for it, test without waiting: ${title}`, { tags: ["slow"] }, async () => {
  const { partner, live, operator, json, localJson } = await served();
  const receiver = await startReceiver();
  await json(`webhooks create ${receiver.url} --events *`);

  const began = performance.now();
  const order = await json("orders create --product ES-EU-5GB-30D --quantity 1");
  await eventually(
    () => json(`orders show ${order.id}`),
    ({ status }) => status === "fulfilled",
  );
  const [{ iccid }] = (await json(`orders esims ${order.id}`)).esims;
  expect(await json(`sandbox esim ${iccid} --event activated`)).toMatchObject({ iccid, status: "active" });
  expect((await partner(`sandbox esim ${order.order_number} --event usage --used-mb 4096`)).stdout).toContain(
    "4096 of 5120 MB used",
  );
  const advanced = await partner("sandbox advance 31d");
  expect([advanced.exitCode, advanced.stdout]).toEqual([0, expect.stringMatching(/ahead +31 d/)]);
  await receiver.got(story.length);
  expect(performance.now() - began).toBeLessThan(10_000);
  const received = receiver.received.map(({ json: body }): Sent => body);
  expectStory((await json("events list")).data, received);
  expect(await json(`esims status ${iccid}`)).toMatchObject({ status: "expired", data_usage: { used_mb: 4096 } });
  expect(
    await eventually(
      () => json("sandbox clock"),
      ({ status }) => status === "ready",
    ),
  ).toMatchObject({
    ahead_ms: 31 * DAY_MS,
  });

  // The operator acts in the sandbox without saying so.
  expect((await localJson("sandbox advance P1D --partner demo")).ahead_ms).toBe(32 * DAY_MS);
  expect((await localJson("sandbox clock --partner demo")).ahead_ms).toBe(32 * DAY_MS);
  const again = await operator(`sandbox esim ${iccid} --event activated --json`);
  expect([again.exitCode, JSON.parse(again.stdout).error.code]).toEqual([1, "conflict"]);
  expect((await localJson("sandbox reset --partner demo")).ahead_ms).toBe(0);

  const held = await json("orders create --product ES-EU-5GB-30D --quantity 1 --scenario stock_short");
  expect(held).toMatchObject({ status: "pending_payment", sandbox_scenario: "stock_short" });
  await eventually(
    () => json(`orders show ${held.id}`),
    ({ status }) => status === "waiting_review",
  );
  expect((await operator("orders queue")).stdout).not.toContain(held.order_number);

  for (const line of [
    "sandbox clock",
    "sandbox advance 1d",
    "orders create --product ES-EU-5GB-30D --quantity 1 --scenario stock_short",
  ]) {
    const refused = await live(`${line} --json`);
    expect([refused.exitCode, JSON.parse(refused.stdout).error.code]).toEqual([4, "sandbox_only"]);
  }
  const misspelled = await partner("sandbox advance week");
  expect([misspelled.exitCode, misspelled.stderr]).toEqual([2, expect.stringContaining("such as 12h or 7d")]);
});
