import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signature, signatureHeader } from "../src/core/webhooks/signature.ts";
import { freePort } from "./support/free-port.ts";
import { eventually } from "./support/hangs.ts";
import { newData } from "./support/installation.ts";
import { launch } from "./support/process.ts";
import { startReceiver } from "./support/receiver.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";
import { webhookShops } from "./support/webhook-shop.ts";

const SECRET = "whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

const { shop } = webhookShops();

test("the operator sees that an endpoint fails, and what did not arrive at any of a partner's", async () => {
  const { run, json } = await shop("gone");
  const receiver = await startReceiver(410);
  const acting = "--partner gone --sandbox";
  const { webhook } = await json(`webhooks create ${receiver.url} --events order.created ${acting}`);
  await json("webhooks trigger order.created --partner gone --sandbox");
  const failed = await eventually(
    () => json("webhooks deliveries --partner gone --failed"),
    ({ count }) => count === 1,
  );
  expect(failed.data).toMatchObject([{ endpoint_id: webhook.id, status: "held", attempts: [{ status_code: 410 }] }]);
  expect(await json(`webhooks deliveries ${acting}`)).toMatchObject({ count: 1 });
  const shown = await run(`webhooks show ${webhook.id}`);
  expect(shown.stdout).toMatch(/last attempt +\d.* order\.created answered 410/);
  expect(shown.stdout).toMatch(/failed in a row +1 since \d/);
  expect((await run(`webhooks list ${acting}`)).stdout).toMatch(/disabled +\S+ +1 +0 .*410/);
  expect(await json(`webhooks list ${acting}`)).toMatchObject({
    data: [{ failed_attempts: 1, failing_since: expect.any(String), pending_deliveries: 0 }],
  });
  // The other tests of this file list what failed.
  expect(await run(`webhooks delete ${webhook.id} --yes`)).toMatchObject({ exitCode: 0 });
});

/** A running `webhooks listen`: its address, the lines that it prints one after the other, and how it is stopped. */
async function listening(args: string[]) {
  const { line, printed, end } = launch(["webhooks", "listen", "--port", "0", ...args]);
  const url = /http:\/\/\S+/.exec(await printed("http://", "stderr"))?.[0] ?? "";
  let read = 0;
  return {
    url,
    next: () => line(read++),
    stop: async () => (await end("SIGTERM")).exitCode,
  };
}

/** Posts a body signed with `secret`. */
function post(url: string, body: string, { secret = SECRET, age = 0 } = {}) {
  const timestamp = Math.floor(Date.now() / 1000) - age;
  const header = signatureHeader(timestamp, signature(secret, timestamp, body));
  return fetch(url, { method: "POST", body, headers: { "x-webhook-signature": header } });
}

test("an endpoint in the terminal, from its creation to its deletion", { tags: ["slow"] }, async () => {
  const { run, json } = await shop("acme");
  const receiver = await startReceiver();
  const acting = "--partner acme --sandbox";
  const { webhook, secret } = await json(
    `webhooks create ${receiver.url} --events order.created,esims.ready ${acting}`,
  );
  expect(webhook).toMatchObject({ url: receiver.url, status: "active", environment: "sandbox" });
  expect(secret).toMatch(/^whsec_/);
  expect(await json(`webhooks list ${acting}`)).toMatchObject({ data: [{ id: webhook.id }], pagination: { count: 1 } });

  const sent = await json("webhooks trigger esims.ready --partner acme --sandbox");
  expect(sent).toMatchObject({ event: "esims.ready", deliveries: [{ url: receiver.url, status: "pending" }] });
  await receiver.got(1);
  expect(receiver.received[0]?.json).toMatchObject({ event_id: sent.event_id, data: { test: true, count: 1 } });
  const shown = await eventually(
    () => json(`webhooks show ${webhook.id}`),
    ({ last_delivery }) => last_delivery !== null,
  );
  expect(shown.last_delivery).toMatchObject({ event: "esims.ready", event_id: sent.event_id, status_code: 200 });
  const { data, count } = await json(`webhooks deliveries --endpoint ${webhook.id}`);
  expect(count).toBe(1);
  expect(data[0]).toMatchObject({ status: "delivered", attempts: [{ status_code: 200, response_body: "ok" }] });
  expect((await run("webhooks deliveries")).stdout).toMatch(/esims\.ready +delivered +1 +200/);

  expect(await json(`webhooks disable ${webhook.id}`)).toMatchObject({ status: "disabled" });
  // Its only endpoint is the sandbox's.
  const held = await json("webhooks trigger order.created --partner acme");
  expect(held.environment).toBe("sandbox");
  expect(held.deliveries).toMatchObject([{ status: "held" }]);
  expect(await run(`webhooks redeliver --endpoint ${webhook.id} --since 1h`)).toMatchObject({
    exitCode: 1,
    stdout: "",
  });
  expect(await json(`webhooks enable ${webhook.id}`)).toMatchObject({ status: "active", consecutive_failures: 0 });
  expect((await json("webhooks deliveries --failed")).data).toMatchObject([
    { event_id: held.event_id, status: "held" },
  ]);
  expect(await json(`webhooks redeliver --endpoint ${webhook.id} --since 1h`)).toEqual({ redelivered: 1 });
  await receiver.got(2);
  expect(await json(`webhooks redeliver ${data[0].id}`)).toEqual({ redelivered: 1 });
  await receiver.got(3);
  expect(receiver.received[2]?.json.event_id).toBe(sent.event_id);

  const rotated = await json(`webhooks rotate-secret ${webhook.id} --overlap 24h`);
  expect(rotated).toEqual({
    id: webhook.id,
    secret: expect.stringMatching(/^whsec_/),
    overlap_until: expect.any(String),
  });
  await json("webhooks trigger order.created --partner acme --sandbox");
  await receiver.got(4);
  expect(receiver.received[3]?.headers).toHaveProperty("x-webhook-signature-next");

  expect(await run(`webhooks delete ${webhook.id} ${acting}`)).toMatchObject({ exitCode: 2 });
  expect(await json(`webhooks delete ${webhook.id} ${acting} --yes`)).toEqual({ id: webhook.id, deleted: true });
  expect((await json(`webhooks list ${acting}`)).data).toEqual([]);
});

test("a partner looks after its endpoint at a server, with the verbs and flags of the operator", async () => {
  const { json, atServer } = await shop("bravo");
  const acting = "--partner bravo --sandbox";
  const receiver = await startReceiver();
  const partner = await atServer();
  const { webhook } = await partner.json(`webhooks create ${receiver.url} --events order.created`);
  const { id } = webhook;

  const changed = await partner.json(`webhooks update ${id} --events esims.ready,order.created --description desk`);
  expect(changed).toMatchObject({ id, url: receiver.url, events: ["esims.ready", "order.created"] });
  expect(await json(`webhooks update ${id} --description none`)).toEqual({
    ...changed,
    description: null,
    updated_at: expect.any(String),
  });
  expect(await partner.run(`webhooks update ${id}`)).toMatchObject({ exitCode: 2 });
  expect((await partner.run(`webhooks update ${id} --events order.shipped`)).stderr).toMatch(/events/);

  const sent = await partner.json(`webhooks test ${id} --event order.failed`);
  expect(sent).toEqual({ event: "order.failed", event_id: expect.any(String), delivery_id: expect.any(String) });
  await receiver.got(1);
  expect(receiver.received[0]?.json).toMatchObject({ event: "order.failed", data: { test: true } });
  const list = `webhooks deliveries --endpoint ${id}`;
  const { data } = await eventually(
    () => partner.json(list),
    (page) => page.data[0].status === "delivered",
  );
  expect(data).toMatchObject([{ id: sent.delivery_id, attempts: 1, last_status_code: 200 }]);
  // As the partner sees them, on the data too.
  expect((await json(`${list} ${acting}`)).data).toEqual(data);
  expect((await partner.run(list)).stdout).toMatch(/order\.failed +delivered +1 +200/);
  expect(await partner.run("webhooks deliveries")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/--endpoint ID/),
  });

  expect(await partner.json(`webhooks redeliver ${sent.delivery_id}`)).toEqual({ redelivered: 1 });
  await receiver.got(2);
  expect(await partner.json(`webhooks redeliver ${sent.delivery_id} --endpoint ${id}`)).toEqual({ redelivered: 1 });
  await receiver.got(3);
  const none = await partner.run(`webhooks redeliver ${crypto.randomUUID()}`);
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/No such delivery/) });
});

test("a partner disables, replays and rotates at a server, and reaches no other partner's endpoint", async () => {
  const { run, json, atServer } = await shop("charlie");
  const acting = "--partner charlie --sandbox";
  const receiver = await startReceiver();
  const partner = await atServer();
  const created = await partner.json(`webhooks create ${receiver.url} --events order.created,esims.ready`);
  const { id } = created.webhook;
  const list = `webhooks deliveries --endpoint ${id}`;
  expect(await partner.json(`webhooks disable ${id}`)).toMatchObject({ id, status: "disabled" });
  await json(`webhooks trigger order.created ${acting}`);
  await json(`webhooks trigger esims.ready ${acting}`);
  expect((await partner.json(`${list} --failed`)).data).toMatchObject([{ status: "held" }, { status: "held" }]);
  expect(await partner.run(`webhooks replay ${id} --since 1h`)).toMatchObject({ exitCode: 1, stdout: "" });
  expect(await partner.json(`webhooks enable ${id}`)).toMatchObject({ id, status: "active" });
  expect(await partner.json(`webhooks replay ${id} --since 1h --kinds esims.ready`)).toEqual({ count: 1 });
  await receiver.got(1);
  expect(await json(`webhooks redeliver --endpoint ${id} --since 1h ${acting}`)).toEqual({ redelivered: 1 });
  await receiver.got(2);
  expect(receiver.received.map((one) => one.json.event)).toEqual(["esims.ready", "order.created"]);

  const rotated = { id, secret: expect.stringMatching(/^whsec_/), overlap_until: expect.any(String) };
  expect(await partner.run(`webhooks rotate-secret ${id} --overlap 30m`)).toMatchObject({ exitCode: 2 });
  expect(await partner.json(`webhooks rotate-secret ${id} --overlap 24h`)).toEqual(rotated);
  expect(await partner.json(`webhooks rotate-secret ${id} --overlap 0`)).toEqual({ ...rotated, overlap_until: null });

  // Another partner's endpoint is not found, at a server and on the data.
  await json("partners create other --name Other");
  const other = await atServer("other");
  for (const line of [
    `enable ${id}`,
    `rotate-secret ${id}`,
    `replay ${id} --since 1h`,
    `test ${id} --event order.failed`,
  ]) {
    expect(await other.run(`webhooks ${line}`), line).toMatchObject({ exitCode: 1, stdout: "" });
    expect(await run(`webhooks ${line} --partner other --sandbox`), line).toMatchObject({ exitCode: 1, stdout: "" });
  }
  expect(await other.run(list)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/No such/) });
});

test("wrong usage is reported with exit code 2, and an unknown record with 1", async () => {
  const data = await newData();
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--data", data]);
  const run = (line: string) => esimctl([...line.split(" "), "--data", data]);
  for (const [line, words] of [
    ["webhooks redeliver", /DELIVERY_ID, or --endpoint and --since/],
    ["webhooks redeliver --endpoint x", /DELIVERY_ID, or --endpoint and --since/],
    ["webhooks redeliver --endpoint x --since yesterday", /--since <time> must be a time/],
    ["webhooks rotate-secret x --overlap long", /--overlap <span> must be a span/],
    ["webhooks trigger order.shipped --partner acme", /no kind of event "order.shipped"/],
    ["webhooks create https://shop.example.com/ --partner acme --sandbox", /--events/],
    ["webhooks listen --secret x", /--port, or --forward-to/],
    ["webhooks listen --port 0", /--secret/],
    ["webhooks listen --port 0 --secret x --partner acme", /--partner does not go with --port/],
  ] as const) {
    const ended = await run(line);
    expect([ended.exitCode, ended.stderr], line).toEqual([2, expect.stringMatching(words)]);
  }
  for (const line of ["webhooks enable x", "webhooks redeliver x", "webhooks deliveries --endpoint x"]) {
    expect(await run(line), line).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/No such/) });
  }
  const none = await run("webhooks trigger order.created --partner acme");
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/No endpoint of this partner/) });
  const local = await run("webhooks create http://127.0.0.1:1080/ --events order.created --partner acme --sandbox");
  expect(local).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/private, loopback/) });
});

test("a list of endpoints names those of the other environment", async () => {
  const data = await newData();
  const run = (line: string) => esimctl([...line.split(" "), "--data", data]);
  await run("partners create acme --name Acme --production");
  expect((await run("webhooks list --partner acme")).stderr).toBe("");
  await run("webhooks create https://shop.example.com/hooks --events order.created --partner acme --sandbox");
  const production = await run("webhooks list --partner acme");
  expect(production).toEqual({
    exitCode: 0,
    stdout: "No endpoints.",
    stderr: "Sandbox has 1 endpoint too: --sandbox lists them.",
  });
  expect((await run("webhooks list --partner acme --sandbox")).stderr).toBe("");
});

test("listen --forward-to posts verified deliveries to another address, and returns its status", async () => {
  const behind = await startReceiver();
  const pipe = await listening(["--secret", SECRET, "--json", "--forward-to", behind.url]);
  const event = { event: "order.created", event_id: "e-1", timestamp: "2026-03-02T01:00:00.000Z", data: { id: "o-1" } };
  const body = JSON.stringify(event, null, 1);
  expect((await post(pipe.url, body)).status).toBe(200);
  const forwarded = { url: behind.url, status: 200, error: null, latency_ms: expect.any(Number) };
  expect(JSON.parse(await pipe.next())).toMatchObject({ valid: true, forwarded });
  // Unchanged: the receiver can verify the signature too.
  const [received] = behind.received;
  expect(received?.body).toBe(body);
  expect(received?.headers["x-webhook-signature"]).toMatch(/^t=\d+,v1=/);

  expect((await post(pipe.url, body, { secret: "whsec_other" })).status).toBe(400);
  expect(JSON.parse(await pipe.next())).toMatchObject({ valid: false, forwarded: null });
  expect(behind.received).toHaveLength(1);

  behind.answers(503);
  expect((await post(pipe.url, body)).status).toBe(503);
  expect(JSON.parse(await pipe.next())).toMatchObject({ valid: true, forwarded: { status: 503 } });
  expect(await pipe.stop()).toBe(0);

  const free = await freePort();
  const people = await listening(["--secret", SECRET, "--forward-to", `http://127.0.0.1:${free}/`]);
  expect((await post(people.url, body)).status).toBe(502);
  expect(await people.next()).toMatch(/order\.created.*signature ok/);
  expect(await people.next()).toMatch(/→ http:\S+ no response: nothing listens there in \d+ ms/);
  expect(await people.stop()).toBe(0);
});

test("listen checks signatures and prints events for people and for pipes", async () => {
  const event = { event: "order.created", event_id: "e-1", timestamp: "2026-03-02T01:00:00.000Z", data: { id: "o-1" } };
  const body = JSON.stringify(event);
  const pipe = await listening(["--secret", SECRET, "--json"]);
  expect((await post(pipe.url, body)).status).toBe(200);
  expect(JSON.parse(await pipe.next())).toEqual({
    valid: true,
    fault: null,
    received_at: expect.any(String),
    ...event,
  });
  expect((await post(pipe.url, body, { secret: "whsec_other" })).status).toBe(400);
  expect(JSON.parse(await pipe.next())).toMatchObject({ valid: false, fault: "signature" });
  expect((await post(pipe.url, body, { age: 301 })).status).toBe(400);
  expect(JSON.parse(await pipe.next())).toMatchObject({ valid: false, fault: "too_old" });
  expect((await fetch(pipe.url, { method: "POST", body })).status).toBe(400);
  expect(JSON.parse(await pipe.next())).toMatchObject({ valid: false, fault: "header_form" });
  expect(await pipe.stop()).toBe(0);

  const people = await listening(["--secret", SECRET]);
  await post(people.url, JSON.stringify({ ...event, data: { id: "o-1", note: "\u001b[31mred" } }));
  expect(await people.next()).toMatch(/order\.created +e-1 +signature ok/);
  expect(await people.next()).toMatch(/^ {2}id +o-1$/);
  expect(await people.next()).toMatch(/^ {2}note +red$/);
});

test("verify names the part that is wrong", async () => {
  const folder = temporaryDirectory();
  const body = '{"event":"order.created"}';
  const timestamp = Math.floor(Date.now() / 1000);
  const header = signatureHeader(timestamp, signature(SECRET, timestamp, body));
  const check = async (content: string, head = header, secret = SECRET) => {
    const file = join(folder, "body.json");
    writeFileSync(file, content);
    const args = ["webhooks", "verify", "--body", file, "--header", head, "--secret", "-", "--json"];
    const { exitCode, stdout } = await esimctl(args, { input: `${secret}\n` });
    return { exitCode, ...JSON.parse(stdout) };
  };
  expect(await check(body)).toMatchObject({ exitCode: 0, valid: true, signature: "ok", timestamp: "ok", hint: null });
  const old = signatureHeader(timestamp - 400, signature(SECRET, timestamp - 400, body));
  expect(await check(body, old)).toMatchObject({ exitCode: 1, signature: "ok", timestamp: "too old" });
  expect(await check(`${body}\n`)).toMatchObject({
    signature: "wrong",
    hint: expect.stringMatching(/line end too many/),
  });
  expect(await check('{ "event": "order.created" }')).toMatchObject({
    hint: expect.stringMatching(/serialized again/),
  });
  expect(await check(body, header, SECRET.slice(6))).toMatchObject({ hint: expect.stringMatching(/lacks its whsec_/) });
  expect(await check("{}")).toMatchObject({ signature: "wrong", timestamp: "not checked" });
  expect(await check(body, "v1=abc")).toMatchObject({ exitCode: 1, header: "malformed", signature: "not checked" });
});
