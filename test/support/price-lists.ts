import { updatePartner } from "../../src/core/partners/update.ts";
import type { TypedRule } from "../../src/core/prices/rule-input.ts";
import { setPriceRule } from "../../src/core/prices/set-rule.ts";
import type { Store } from "../../src/core/store/store.ts";
import { type Caller, call, type Platform } from "./platform.ts";

const actor = "test";

/** Sets a rule of a list. */
export const rule = (store: Store, list: string, typed: TypedRule) =>
  store.write(setPriceRule, { list, rule: typed, actor });

/** Gives a partner a price list. */
export const listed = (platform: Platform, slug: string, priceList: string | null) =>
  platform.store.write(updatePartner, { slug, priceList, actor });

/** The caller with a token that has not expired. */
export async function renewed(platform: Platform, { clientId, clientSecret, partnerId }: Caller): Promise<Caller> {
  const { body } = await call(`${platform.url}/api/v1/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }),
  });
  const authorization = { authorization: `Bearer ${body.access_token}` };
  const json = { "content-type": "application/json" };
  return {
    partnerId,
    clientId,
    clientSecret,
    token: body.access_token,
    get: (path, headers = {}) => call(platform.url + path, { headers: { ...authorization, ...headers } }),
    send: (method, path, payload, headers = {}) =>
      call(platform.url + path, {
        method,
        headers: { ...authorization, ...json, ...headers },
        body: JSON.stringify(payload),
      }),
  };
}
