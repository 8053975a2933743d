import { describe, expect, test } from "vitest";
import { updateCredential } from "../src/core/credentials/update.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { deskOf } from "./support/desk.ts";
import { type Caller, call, type Reply, startPlatform } from "./support/platform.ts";

const PATH = "/api/v1/credentials";
const slugOf = ({ body }: Reply) => String(body.type).split("/").at(-1);
const refusalOf = (reply: Reply) => [reply.status, slugOf(reply)];
const actor = "test";

/** A partner in the sandbox, and requests about its credentials. */
async function account(options: { live?: boolean; production?: boolean } = {}) {
  const platform = await startPlatform();
  const owner = await platform.caller({ slug: "acme", ...options });
  const create = (by: Caller, body: object) => by.send("POST", PATH, body);
  const token = async ({ client_id, client_secret }: { client_id: string; client_secret: string }) => {
    const grant = { grant_type: "client_credentials", client_id, client_secret };
    const headers = { "content-type": "application/json" };
    return call(`${platform.url}/api/v1/oauth/token`, { method: "POST", headers, body: JSON.stringify(grant) });
  };
  const ids = async (by: Caller) =>
    (await by.get(`${PATH}?limit=100`)).body.data.map(({ client_id }: { client_id: string }) => client_id);
  return { platform, owner, create, token, ids };
}

describe("a partner's own credentials", () => {
  test("are created, listed, rotated and revoked; secrets are shown once; the credential is the actor", async () => {
    const { platform, owner, create, token } = await account();
    const made = await create(owner, { environment: "sandbox", scopes: ["read:products"], description: "Web shop" });
    expect(made.status).toBe(201);
    const { client_id, client_secret, ...rest } = made.body;
    expect(client_id).toMatch(/^sk_test_/);
    expect(rest).toEqual({
      environment: "sandbox",
      scopes: ["read:products"],
      description: "Web shop",
      status: "active",
      guard_rails: { addresses: null, expires_at: null, spend_caps: [], spent_today: [], guarded_by: null },
      identity: true,
      created_at: "2026-03-02T01:00:00.000Z",
      rotated_at: null,
    });
    expect((await token({ client_id, client_secret })).body.scope).toBe("read:products");
    const listed = await owner.get(PATH);
    expect(JSON.stringify(listed.body)).not.toMatch(/secret/);
    expect(listed.body.data).toContainEqual({ client_id, ...rest });
    const rotated = await owner.send("POST", `${PATH}/${client_id}/rotate`);
    expect([rotated.status, rotated.body.rotated_at]).toEqual([200, "2026-03-02T01:00:00.000Z"]);
    expect((await token({ client_id, client_secret })).body.error).toBe("invalid_client");
    expect((await token({ client_id, client_secret: rotated.body.client_secret })).status).toBe(200);
    expect((await owner.send("DELETE", `${PATH}/${client_id}`)).status).toBe(204);
    expect((await token({ client_id, client_secret: rotated.body.client_secret })).body.error).toBe("invalid_client");
    expect(refusalOf(await owner.send("POST", `${PATH}/${client_id}/rotate`))).toEqual([409, "conflict"]);
    const { data } = await deskOf(platform).json(`audit list --target ${client_id}`);
    const audited = data.map((one: { action: string; actor: string }) => [one.action, one.actor]);
    expect(audited).toEqual(
      ["revoke", "rotate", "create"].map((verb) => [`credentials.${verb}`, `client:${owner.clientId}`]),
    );
  });

  test("need a token that was granted all scopes, and stay within one partner", async () => {
    const { platform, owner, create, ids } = await account();
    const lacking = await platform.credential("acme", { scopes: ["write:webhooks", "read:webhooks"] });
    for (const reply of [await lacking.get(PATH), await create(lacking, { environment: "sandbox" })]) {
      expect(refusalOf(reply)).toEqual([403, "insufficient_scope"]);
    }
    const live = await platform.credential("acme", { live: true });
    const stranger = await platform.caller({ slug: "other" });
    expect(await ids(stranger)).toEqual([stranger.clientId]);
    expect(await ids(owner)).not.toContain(live.clientId);
    for (const [by, of] of [
      [owner, live],
      [stranger, owner],
    ] as const) {
      expect(refusalOf(await by.send("POST", `${PATH}/${of.clientId}/rotate`))).toEqual([404, "not_found"]);
      expect(refusalOf(await by.send("DELETE", `${PATH}/${of.clientId}`))).toEqual([404, "not_found"]);
    }
    expect((await create(owner, { environment: "moon" })).status).toBe(400);
    expect((await create(owner, { environment: "sandbox", scopes: ["admin"] })).status).toBe(400);
  });

  test("the sandbox creates production's first one once production is enabled, and no other", async () => {
    const { platform, owner, create, token } = await account({ production: false });
    expect(refusalOf(await create(owner, { environment: "production" }))).toEqual([403, "production_not_enabled"]);
    await platform.store.write(updatePartner, { slug: "acme", production: true, actor });
    const both = await Promise.all([1, 2].map(() => create(owner, { environment: "production" })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403]);
    const first = both.find(({ status }) => status === 201)?.body;
    expect(first.client_id).toMatch(/^sk_live_/);
    expect(refusalOf(await create(owner, { environment: "production" }))).toEqual([403, "production_token_required"]);
    const { access_token } = (await token(first)).body;
    const headers = { authorization: `Bearer ${access_token}` };
    const second = await owner.send("POST", PATH, { environment: "production" }, headers);
    expect(second.status).toBe(201);
    expect((await owner.send("POST", PATH, { environment: "sandbox" }, headers)).status).toBe(201);
    // Revoked ones count too: the sandbox does not get production back.
    for (const { client_id } of [first, second.body])
      await deskOf(platform).json(`credentials revoke ${client_id} --yes`);
    expect(refusalOf(await create(owner, { environment: "production" }))).toEqual([403, "production_token_required"]);
  });

  test("a token of production manages those of the sandbox too, and no token of the sandbox production's", async () => {
    const { platform, owner } = await account();
    const live = await platform.credential("acme", { live: true });
    const { data } = (await live.get(PATH)).body;
    const ids = data.map(({ client_id }: { client_id: string }) => client_id);
    expect(ids).toEqual(expect.arrayContaining([owner.clientId, live.clientId]));
    const own = (await owner.get(PATH)).body.data.map(({ client_id }: { client_id: string }) => client_id);
    expect(own).not.toContain(live.clientId);
    const spare = await platform.credential("acme", {});
    expect((await live.send("POST", `${PATH}/${spare.clientId}/rotate`)).status).toBe(200);
    expect((await live.send("DELETE", `${PATH}/${spare.clientId}`)).status).toBe(204);
    expect((await owner.send("DELETE", `${PATH}/${live.clientId}`)).status).toBe(404);
  });

  test("the last one that can manage an environment stays, also when two are deleted at once", async () => {
    const { platform, owner, ids } = await account();
    const second = await platform.credential("acme", {});
    const reader = await platform.credential("acme", { scopes: ["read:products"] });
    await platform.credential("acme", { live: true });
    const remove = (by: Caller, of: Caller) => by.send("DELETE", `${PATH}/${of.clientId}`);
    const replies = await Promise.all([remove(owner, second), remove(second, owner)]);
    const [statuses] = [replies.map(({ status }) => status).sort()];
    // The second one is refused for what it finds: its credential revoked, or the last one.
    expect([[204, 401].join(), [204, 409].join()]).toContain(statuses.join());
    const left = replies[0]?.status === 204 ? owner : second;
    expect(refusalOf(await remove(left, left))).toEqual([409, "last_credential"]);
    expect((await remove(left, reader)).status).toBe(204);
    expect(await ids(left)).toHaveLength(3);
    const third = await platform.credential("acme", {});
    const selves = await Promise.all([remove(left, left), remove(third, third)]);
    expect(selves.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  test("guard rails are not escaped by other credentials: new ones share them, others are left alone", async () => {
    const { platform, owner, create, token } = await account();
    const free = await platform.credential("acme", {});
    const clientId = owner.clientId;
    const before = (await create(owner, { environment: "sandbox" })).body;
    await platform.store.write(updateCredential, { clientId, addresses: ["127.0.0.0/8"], perDay: "1.00", actor });
    const made = (await create(owner, { environment: "sandbox" })).body;
    expect(made.guard_rails).toMatchObject({ addresses: ["127.0.0.0/8"], guarded_by: clientId });
    for (const other of [free.clientId, before.client_id]) {
      expect(refusalOf(await owner.send("POST", `${PATH}/${other}/rotate`))).toEqual([403, "guard_rails_apply"]);
      expect(refusalOf(await owner.send("DELETE", `${PATH}/${other}`))).toEqual([403, "guard_rails_apply"]);
    }
    for (const same of [made.client_id, clientId]) {
      expect((await owner.send("POST", `${PATH}/${same}/rotate`)).status).toBe(200);
    }
    // One without guard rails may, and what it creates has none.
    const rotated = await free.send("POST", `${PATH}/${made.client_id}/rotate`);
    expect(rotated.status).toBe(200);
    expect((await create(free, { environment: "sandbox" })).body.guard_rails.guarded_by).toBeNull();
    const change = { clientId: made.client_id, addresses: null, actor };
    await expect(platform.store.write(updateCredential, change)).rejects.toMatchObject({ slug: "conflict" });
    await platform.store.write(updateCredential, { clientId, addresses: ["10.0.0.0/8"], actor });
    expect((await token(rotated.body)).body.error).toBe("ip_not_allowed");
  });
});

test("the terminal manages a partner's own credentials at a server, with the operator's verbs", async () => {
  const { platform, owner } = await account({ production: false });
  const desk = deskOf(platform).at(owner);
  const made = await desk.json('credentials create --label "web shop" --scope "read:products read:orders"');
  expect(made).toMatchObject({ description: "web shop", environment: "sandbox", client_secret: expect.any(String) });
  expect((await desk.json("credentials list")).data).toHaveLength(2);
  expect(await desk.json(`credentials show ${made.client_id}`)).toMatchObject({
    scopes: ["read:products", "read:orders"],
  });
  const rotated = await desk.run(`credentials rotate ${owner.clientId} --yes`);
  expect([rotated.exitCode, rotated.stderr]).toEqual([0, expect.stringMatching(/signed in with this credential/)]);
  const secret = /client secret +(\S+)/.exec(rotated.stdout)?.[1] ?? "";
  const again = deskOf(platform).at({ ...owner, clientSecret: secret });
  expect(await again.json(`credentials revoke ${made.client_id} --yes`)).toEqual({
    client_id: made.client_id,
    revoked: true,
  });
  expect((await again.refusal(`credentials revoke ${owner.clientId} --yes`)).code).toBe("last_credential");
  expect((await again.refusal("credentials create --live")).code).toBe("production_not_enabled");
  expect((await again.refusal(`credentials update ${owner.clientId} --per-day none`)).code).toBe("operator_only");
});
