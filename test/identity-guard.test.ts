import { describe, expect, test } from "vitest";
import { updateCredential } from "../src/core/credentials/update.ts";
import { request } from "./support/activations.ts";
import { guardedShop } from "./support/guarded-shop.ts";
import { importRecords, passport } from "./support/passports.ts";
import { startPlatform } from "./support/platform.ts";

describe("identity", () => {
  const POOL = "/api/v1/kyc/passports";

  test("is kept from a credential: passports and identities of activations, and nothing else", async () => {
    const platform = await startPlatform();
    const agent = await platform.caller({ slug: "agency", agent: true });
    const [document, other] = [passport(), passport()];
    const [pooled] = await importRecords(agent, [document]);
    const sim = request();
    const { body: submitted } = await agent.send("POST", "/api/v1/activations", sim);
    const change = { clientId: agent.clientId, actor: "operator" };
    await platform.store.write(updateCredential, { ...change, identity: false });
    const identity = { last_name: "Other" };
    const refused: [method: string, path: string, body?: object][] = [
      ["GET", POOL],
      ["POST", POOL, { records: [other] }],
      ["PATCH", `${POOL}/${pooled}`, { first_name: "Odile" }],
      ["DELETE", `${POOL}/${pooled}`],
      ["POST", "/api/v1/activations", request()],
      ["POST", "/api/v1/activations/bulk", { lines: [request()] }],
      ["PATCH", `/api/v1/activations/${submitted.id}/identity`, identity],
      ["PATCH", `/api/v1/activations/by-iccid/${sim.iccid}/identity`, identity],
    ];
    for (const [method, path, body] of refused) {
      const { status, body: answer } = await agent.send(method, path, body);
      expect([method, path, status, answer.type]).toEqual([
        method,
        path,
        403,
        expect.stringMatching(/identity-not-allowed|identity_not_allowed/),
      ]);
    }
    expect((await agent.get(`/api/v1/activations/${submitted.id}`)).status).toBe(200);
    const moved = { requested_activation_date: "2026-04-02" };
    expect(await agent.send("PATCH", `/api/v1/activations/${submitted.id}`, moved)).toMatchObject({ status: 200 });
    expect((await agent.send("POST", `/api/v1/activations/${submitted.id}/cancel`)).status).toBe(200);
    const { body: listed } = await agent.get("/api/v1/credentials");
    expect(listed.data).toMatchObject([{ client_id: agent.clientId, identity: false }]);
    // What it creates is kept from them too.
    const { body: made } = await agent.send("POST", "/api/v1/credentials", { environment: "sandbox" });
    expect(made).toMatchObject({ identity: false, guard_rails: { guarded_by: agent.clientId } });
    await platform.store.write(updateCredential, { ...change, identity: true });
    expect((await agent.get(POOL)).status).toBe(200);
  });

  test("is given and taken in the terminal, and audited", async () => {
    const { sandbox, desk } = await guardedShop();
    expect(await desk.json(`credentials update ${sandbox.clientId} --no-identity`)).toMatchObject({ identity: false });
    const shown = await desk.run(`credentials show ${sandbox.clientId}`);
    expect(shown.stdout).toMatch(/guard rails +no identities/);
    expect(await desk.json(`credentials update ${sandbox.clientId} --identity`)).toMatchObject({ identity: true });
    const { data } = await desk.json(`audit list --target ${sandbox.clientId}`);
    expect(data[0]).toMatchObject({ changes: [{ field: "no_identity", from: true, to: false }] });
  });
});
