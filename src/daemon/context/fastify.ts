import type {} from "@fastify/swagger"; // adds operationId, tags, summary and the like to schemas
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { Scope } from "../../core/credentials/scopes.ts";
import type { ProblemSlug } from "../../core/kernel/problem.ts";
import type { Counted, DaemonContext, Principal } from "./context.ts";

/** The daemon's Fastify: TypeBox schemas give body, query, params and reply their types. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The routes of one resource. Runs in a scope of its own: hooks and parsers it adds stay with its routes. */
export type RoutePlugin = (app: App, context: DaemonContext) => void;

/** A header that answers of a route may carry beyond those that all have. */
export type ResponseHeader =
  | "ETag"
  | "Location"
  | "Idempotent-Replayed"
  | "Cache-Control"
  | "Deprecation"
  | "Sunset"
  | "Link";

/** What a route declares, and its pattern; undefined where no route has the path. */
export type RouteRules = Readonly<FastifyContextConfig> & { readonly url?: string };

/** A path of the app: the pattern of its routes, and the Allow header of answers to wrong methods. */
export interface KnownPath {
  url: string;
  allow: string;
}

declare module "fastify" {
  /** What a route declares; exactly one of `scope` and `public` is needed. */
  interface FastifyContextConfig {
    /** The token's scope that this route needs; "all": every one of them. */
    scope?: Scope | "all";
    /** True: any caller may use it, without a token. */
    public?: boolean;
    /** True: it handles identities, which a credential may be refused. */
    identity?: boolean;
    /** True of a public route whose requests are signed in X-Signature; for the API reference. */
    signed?: boolean;
    /** What this route may refuse with, beyond what follows from its scope and schemas; for the API reference. */
    problems?: readonly ProblemSlug[];
    /** Headers of its own on answers of a status, for the API reference: {201: ["Location"]}. */
    responseHeaders?: Readonly<Record<number, readonly ResponseHeader[]>>;
    /** "oauth": errors are {error, error_description} (RFC 6749 5.2) and nothing is cacheable. */
    errorShape?: "oauth";
    /** "token": counted per address and client_id; "exempt": not counted. Else per client, or per address. */
    rateLimit?: "token" | "exempt";
    /** Cache-Control of its answers that hold nothing personal and no secret; left out: `no-store`. */
    cache?: string;
    /** What its page may load, where that is more than other pages may. */
    policy?: Readonly<Record<string, readonly string[]>>;
    /** True: its responses may carry an ETag, and If-None-Match is read; for the API reference. */
    etag?: boolean;
    /** Set by the daemon on the answers to wrong methods: the Allow header. */
    allow?: string;
  }

  interface FastifyInstance {
    /** The path of a request target, whatever the method; undefined for none. Absent where no caller is outside. */
    knownPath?: (target: string) => KnownPath | undefined;
  }

  interface FastifyReply {
    /** The reason of a refusal, for the log: a problem's slug, or an OAuth error. */
    refusal: string | undefined;
  }

  interface FastifyRequest {
    /** The caller; undefined on public routes. Routes with a scope read it by `principalOf`. */
    principal: Principal | undefined;
    /** The client whose limit the request counts for: the caller's, or that of an expired token. Else its address. */
    counted: Counted | undefined;
    /** Throws what a new request with this token would be refused with: it expired or was revoked meanwhile. */
    confirmAccess(): Promise<void>;
    /** Read it by `rulesOf`. */
    rules: RouteRules | undefined;
    /** The parsed body exactly as sent, unknown fields too (idempotency compares it). `body` is the tidied copy. */
    rawPayload: unknown;
  }
}
