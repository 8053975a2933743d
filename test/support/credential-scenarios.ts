import { createCredential } from "../../src/core/credentials/create.ts";
import { partnerById } from "../../src/core/partners/partner.ts";
import { anyone, type Scenario } from "./generic-scenarios.ts";

const sandboxCredential = { environment: "sandbox" };
/** Longer than any client ID. */
const NO_ID = "x".repeat(101);

/** How each operation on credentials comes to answer with a status. */
export const credentialScenarios: Record<string, Record<number, Scenario>> = {
  listCredentials: { 200: async ({ platform }) => (await anyone(platform)).get("/api/v1/credentials") },
  createCredential: {
    201: async ({ platform }) => (await anyone(platform)).send("POST", "/api/v1/credentials", sandboxCredential),
    409: async ({ platform }) => {
      const caller = await anyone(platform);
      const partner = (await platform.store.read(partnerById, caller.partnerId)).slug;
      const create = () => platform.store.write(createCredential, { partner, live: false, label: null, actor: "test" });
      await Promise.all(Array.from({ length: 99 }, create));
      return caller.send("POST", "/api/v1/credentials", sandboxCredential);
    },
  },
  rotateCredential: {
    400: async ({ platform }) => (await anyone(platform)).send("POST", `/api/v1/credentials/${NO_ID}/rotate`),
    200: async ({ platform }) => {
      const caller = await anyone(platform);
      return caller.send("POST", `/api/v1/credentials/${caller.clientId}/rotate`);
    },
    409: async ({ platform }) => {
      const caller = await anyone(platform);
      const { body } = await caller.send("POST", "/api/v1/credentials", sandboxCredential);
      await caller.send("DELETE", `/api/v1/credentials/${body.client_id}`);
      return caller.send("POST", `/api/v1/credentials/${body.client_id}/rotate`);
    },
  },
  deleteCredential: {
    400: async ({ platform }) => (await anyone(platform)).send("DELETE", `/api/v1/credentials/${NO_ID}`),
    204: async ({ platform }) => {
      const caller = await anyone(platform);
      const { body } = await caller.send("POST", "/api/v1/credentials", sandboxCredential);
      return caller.send("DELETE", `/api/v1/credentials/${body.client_id}`);
    },
    409: async ({ platform }) => {
      const caller = await anyone(platform);
      return caller.send("DELETE", `/api/v1/credentials/${caller.clientId}`);
    },
  },
};
