import { createSocket } from "node:dgram";
import { promises as dns, type LookupAddress } from "node:dns";
import { expect, onTestFinished, test } from "vitest";
import { isPrivateHost, isPublicAddress } from "../src/core/webhooks/address.ts";
import { endpointUrlFault } from "../src/core/webhooks/create.ts";
import { createWebhookSender, type SenderOptions } from "../src/daemon/gateways/webhook-sender.ts";
import { HANG_MS } from "./support/hangs.ts";
import { startPlatform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";

const spellings = {
  loopback: [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0x0.0x0.0x1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://①②⑦.0.0.1/",
    "http://127.255.255.254/",
    "http://0/",
    "http://0.0.0.0/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://api.localhost/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
  ],
  private: [
    "http://10.0.0.1/",
    "http://0xa000001/",
    "http://012.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://100.64.0.1/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:c0a8:101]/",
    "http://router.local/",
    "http://db.internal/",
  ],
  "link-local and metadata": [
    "http://169.254.169.254/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fd00:ec2::254]/",
    "http://[::ffff:169.254.169.254]/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
    "http://metadata.google.internal/",
  ],
  "wrapped, multicast and reserved": [
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://240.0.0.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
  ],
};

const sandbox = { environment: "sandbox", allowPrivate: false } as const;

for (const [kind, urls] of Object.entries(spellings)) {
  test.each(urls)(`%s is refused as ${kind}`, async (url) => {
    expect(endpointUrlFault(url, sandbox)).toMatch(/private/);
    expect(endpointUrlFault(url, { ...sandbox, allowPrivate: true })).toBeNull();
    expect(isPrivateHost(new URL(url).hostname)).toBe(true);
  });
}

test("public addresses and names are allowed", () => {
  for (const url of ["https://example.com/", "http://8.8.8.8/", "http://[2606:4700::1111]/", "http://172.32.0.1/"]) {
    expect(endpointUrlFault(url, sandbox), url).toBeNull();
  }
  expect(isPublicAddress("not an address")).toBe(false);
  expect(isPublicAddress("fe80::1%eth0")).toBe(false);
});

function sender(options: SenderOptions) {
  const made = createWebhookSender({ limitMs: 2_000, ...options });
  onTestFinished(() => made.close());
  const compose = async () => ({ headers: {}, body: Buffer.from("{}") });
  return (url: string) => made.post({ url, compose, stopping: new AbortController().signal });
}

test.each(Object.values(spellings).flat())("%s is refused again at delivery", async (url) => {
  // What names resolve to here, a machine's own hosts file may do anywhere.
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  const answer = await sender({ allowPrivate: false, resolve })(url);
  expect(answer).toMatchObject({ statusCode: null, error: expect.stringMatching(/private, loopback or link-local/) });
});

test("of several addresses only public ones are connected to", async () => {
  const receiver = await startReceiver();
  const answers: LookupAddress[][] = [
    [
      { address: "10.0.0.1", family: 4 },
      { address: "::1", family: 6 },
      { address: "127.0.0.1", family: 4 },
    ],
  ];
  const resolve = async () => answers[0] ?? [];
  const guarded = await sender({ allowPrivate: false, resolve })(`http://hooks.example:${receiver.port}/`);
  expect(guarded?.error).toMatch(/10\.0\.0\.1 is private/);
  expect(receiver.received).toHaveLength(0);
  const open = await sender({ allowPrivate: true, resolve: async () => [{ address: "127.0.0.1", family: 4 }] })(
    `http://hooks.example:${receiver.port}/`,
  );
  expect(open?.statusCode).toBe(200);
});

test("a name that resolves to a public address first and to a private one later is never connected to", async () => {
  const receiver = await startReceiver();
  // The first answer is public; nothing is ever sent there.
  const server = await nameServer(["8.8.8.8", "127.0.0.1"]);
  const resolver = new dns.Resolver({ timeout: HANG_MS, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.port}`]);
  const resolve = async (name: string) =>
    (await resolver.resolve4(name)).map((address): LookupAddress => ({ address, family: 4 }));
  expect((await resolve("rebind.example")).map(({ address }) => isPublicAddress(address))).toEqual([true]);

  const answer = await sender({ allowPrivate: false, resolve })(`http://rebind.example:${receiver.port}/hooks`);
  expect(answer).toMatchObject({ statusCode: null, error: expect.stringMatching(/127\.0\.0\.1 is private/) });
  expect(receiver.received).toHaveLength(0);
  // Resolved again by the connection itself: the checked address is the one connected to.
  expect(server.asked()).toBe(2);
});

/** A name server on loopback that answers every A question with the next of `addresses`, and the last from then on. */
async function nameServer(addresses: string[]) {
  const socket = createSocket("udp4");
  let asked = 0;
  socket.on("message", (question, from) => {
    const address = addresses[Math.min(asked++, addresses.length - 1)] ?? "";
    socket.send(answerTo(question, address), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return { port: socket.address().port, asked: () => asked };
}

/** A DNS answer (RFC 1035, 4.1): the question's header and name, one A record with no time to live. */
function answerTo(question: Buffer, address: string): Buffer {
  let end = 12;
  while (question[end] !== 0) end += (question[end] ?? 0) + 1;
  const asked = question.subarray(12, end + 5);
  const header = Buffer.from([...question.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
  return Buffer.concat([header, asked, record]);
}

// Some of the list at https://fetch.spec.whatwg.org/#port-blocking, low and high.
const closedPorts = [1, 21, 22, 25, 53, 79, 465, 587, 993, 2049, 4190, 5060, 6000, 6667, 6697, 10080];

test("a port of another service is refused at creation, also where private addresses are allowed", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const create = (url: string) => caller.send("POST", "/api/v1/webhooks", { url, events: ["order.created"] });
  for (const port of [0, ...closedPorts]) {
    const url = `http://hooks.example.com:${port}/x`;
    const { status, body } = await create(url);
    const errors = { url: ["must not use a port that browsers block, such as 22, 25 or 6667"] };
    expect([status, body.errors], url).toEqual([400, errors]);
    expect(endpointUrlFault(url, { ...sandbox, allowPrivate: true }), url).toMatch(/port/);
  }
  for (const port of ["", ":80", ":81", ":82", ":443", ":444", ":800", ":1023", ":1024", ":8443", ":65535"]) {
    const { status } = await create(`https://hooks.example.com${port}/x`);
    expect(status, port).toBe(201);
  }
});

test.each([true, false])(
  "a port of another service is not called, private addresses allowed: %s",
  async (allowPrivate) => {
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return [{ address: "127.0.0.1", family: 4 }];
    };
    for (const port of closedPorts) {
      const answer = await sender({ allowPrivate, resolve })(`http://hooks.example:${port}/`);
      const error = `the port ${port} is one that browsers block`;
      expect(answer).toMatchObject({ statusCode: null, error });
    }
    expect(asked).toEqual([]);
  },
);
