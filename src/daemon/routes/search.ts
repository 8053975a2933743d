import { findOwn } from "../../core/find/find.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { SearchQuery, SearchResult } from "../schemas/search.ts";

/** Beyond the contract: finds a caller's records. A POST, so that names stay out of the logs of proxies. */
export const searchRoutes: RoutePlugin = (app, { store }) => {
  app.route({
    method: "POST",
    url: "/api/v1/search",
    config: { scope: "read:orders", problems: ["validation"] },
    schema: {
      operationId: "search",
      tags: ["Orders"],
      summary: "Find orders, eSIMs, activation requests and passports by a person or number",
      description:
        "Searches your own records in the token's environment and changes nothing. Accents, case and apostrophes do " +
        "not matter; one or two letters find only names of just these. eSIMs are in the response only with the scope " +
        "`read:esims`. Nothing found is an empty list; where too many names are alike to know, it is a 400.",
      body: SearchQuery,
      response: { 200: SearchResult },
    },
    handler(request) {
      const owner = principalOf(request);
      const esims = owner.scopes.includes("read:esims");
      return store.list(findOwn, { owner, query: request.body.query, esims });
    },
  });
};
