import { scopes } from "../../core/credentials/scopes.ts";
import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { problems } from "../../core/kernel/problem.ts";
import { partnerById, requirePartner } from "../../core/partners/partner.ts";
import { readSetting } from "../../core/platform/settings.ts";
import type { StoreUnavailable } from "../../core/store/problems.ts";
import { reportingFaults } from "../../core/store/problems.ts";
import type { Addresses, DaemonContext, Principal } from "../../daemon/context/context.ts";
import type { App } from "../../daemon/context/fastify.ts";
import { resourceOf, routesFor } from "../../daemon/routes/by-resource.ts";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { OPERATOR } from "../place/operator.ts";
import { pickPartner } from "../place/partner-options.ts";
import type { ActsFor, Caller, Opened, OwnerOf, StoreUse } from "./api.ts";
import { type Answer, type Api, asAnswer, type Method, type RequestContent } from "./api.ts";

/** Where `serve` listens unless configured otherwise. */
export const DEFAULT_ADDRESS = "http://127.0.0.1:8080";

/** Runs `work` on the v1 handlers themselves, in this process, over the place's store; closes both afterwards. */
export async function withLocalApi<T>(
  caller: Caller,
  { use, ...actsFor }: Actor & { use: StoreUse | undefined },
  work: (api: Api) => Promise<T>,
): Promise<T> {
  return caller.withStore(async (opened) => {
    const { principal, actsAs } = await localActor(caller, opened, actsFor);
    const addresses = await addressesOf(opened);
    const apps = await createApps(caller, { ...opened, addresses }, principal);
    try {
      const { partnerId, environment } = principal;
      const local = { ...opened, partnerId, environment };
      const acting = { actsAs, environment, address: addresses.publicUrl, local };
      return await work(apiOver(apps, acting));
    } finally {
      await apps.close();
    }
  }, use);
}

interface Apps {
  of(path: string): Promise<App>;
  /** Why the database could not be used; responses say only that it could not. */
  fault(): StoreUnavailable | null;
  close(): Promise<void>;
}

/** The handlers of each resource, loaded and made ready when the first request goes there. */
async function createApps({ globals }: Caller, opened: DaemonContext, principal: Principal): Promise<Apps> {
  let fault: StoreUnavailable | null = null;
  const store = reportingFaults(opened.store, (met) => {
    fault = met;
  });
  const daemon = { ...opened, store };
  // Only its log identifies a fault inside a handler.
  const logger = globals.verbose && (await verboseLog());
  const apps = new Map<string, Promise<App>>();
  const build = async (resource: string) => {
    const [{ buildHandlers }, routes] = await Promise.all([
      import("../../daemon/http/handlers.ts"),
      routesFor(resource),
    ]);
    const options = { authenticate: async () => principal, trustProxy: false, logger, routes };
    return buildHandlers(daemon, options);
  };
  return {
    of(path: string): Promise<App> {
      const resource = resourceOf(path);
      const app = apps.get(resource) ?? build(resource);
      apps.set(resource, app);
      return app;
    },
    fault: () => fault,
    async close(): Promise<void> {
      for (const app of apps.values()) await (await app).close();
    },
  };
}

async function verboseLog() {
  const { createLogger } = await import("../../daemon/log/logger.ts");
  return createLogger("error", { pretty: true, destination: process.stderr });
}

/** The partner that the command acts for: by slug, or as the owner of an object. */
type Actor = ActsFor & { ownerOf: OwnerOf | undefined };

interface LocalActor {
  principal: Principal;
  actsAs: string;
}

/** The principal that the handlers get. A suspended partner is refused by the public API only, not here. */
async function localActor(caller: Caller, { store }: Opened, actsFor: Actor): Promise<LocalActor> {
  const sandbox = actsFor.sandbox || actsFor.sandboxOnly;
  const environment = sandbox ? "sandbox" : "production";
  const common = { clientId: OPERATOR, environment, ratePerMinute: Number.MAX_SAFE_INTEGER } as const;
  if (actsFor.partner === undefined && actsFor.optional) {
    // Without a partner: it can read only what all partners share.
    return {
      principal: { ...common, partnerId: "" as PartnerId, partner: "", scopes: ["read:products"] },
      actsAs: environment,
    };
  }
  if (actsFor.partner === undefined && actsFor.ownerOf !== undefined) {
    const owner = await actsFor.ownerOf(store);
    const { id: partnerId, slug, price_list: priceList } = await store.read(partnerById, owner.partner_id);
    const environment = sandbox ? "sandbox" : owner.environment;
    return {
      principal: { ...common, environment, partnerId, partner: slug, priceList, scopes },
      actsAs: `${slug}, ${environment}`,
    };
  }
  const slug = actsFor.partner ?? (await pickPartner(caller.globals, store));
  const partner = await store.read(requirePartner, slug);
  if (environment === "production" && !partner.production) {
    throw new CliError(
      "no_production_access",
      `${partner.slug} has no production access.`,
      `Add --sandbox, or give it access: esimctl partners update ${partner.slug} --production`,
      exitCodes.notAuthorized,
    );
  }
  return {
    principal: { ...common, partnerId: partner.id, partner: partner.slug, priceList: partner.price_list, scopes },
    actsAs: `${partner.slug}, ${environment}`,
  };
}

/** The addresses in links: where the daemon was last served, since nothing is served here. */
async function addressesOf({ store }: Opened): Promise<Addresses> {
  const publicUrl = (await store.read(readSetting, "public_url")) ?? DEFAULT_ADDRESS;
  return { publicUrl, docsUrl: (await store.read(readSetting, "docs_url")) ?? `${publicUrl}/docs` };
}

function apiOver(apps: Apps, acting: Pick<Api, "actsAs" | "environment" | "address"> & { local: Owner & Opened }): Api {
  return {
    ...acting,
    async request<T>(method: Method, path: string, asked: RequestContent = {}): Promise<Answer<T>> {
      return throughHandlers(await apps.of(path), apps, { method, path, ...asked });
    },
  };
}

type Request = RequestContent & { method: Method; path: string };

async function throughHandlers<T>(app: App, { fault }: Apps, asked: Request): Promise<Answer<T>> {
  const { method, path, query = {}, body, headers = {} } = asked;
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  const answer = await app.inject({
    method,
    url: path,
    query: Object.fromEntries(given),
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  const met = fault();
  if (met !== null && answer.statusCode === problems.unavailable.status) throw met;
  return asAnswer<T>(answer.statusCode, answer.headers, answer.body);
}
