import type { FastifyReply, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Clock } from "../../core/kernel/clock.ts";
import { addressOf } from "../../core/kernel/networks.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { Counted, DaemonContext } from "../context/context.ts";
import { readBasic } from "./basic.ts";
import type { Counters, RateUsage, Windows } from "./rate-windows.ts";
import { rulesOf } from "./route-rules.ts";

/** Requests a minute of one address (IPv6: network) that name no client, and again that ask for a token. */
const ADDRESS_LIMIT = 300;
/** Token requests a minute for one client_id from one address. */
const TOKEN_LIMIT = 30;

/** Writes the usage to the response's headers; the refusal when this request exceeds the limit. */
function settle(reply: FastifyReply, usage: RateUsage, clock: Clock): Problem | undefined {
  reply.header("x-ratelimit-limit", usage.limit);
  reply.header("x-ratelimit-remaining", usage.remaining);
  reply.header("x-ratelimit-reset", Math.ceil(usage.resetsAt / 1000));
  if (usage.allowed) return undefined;
  const seconds = Math.max(1, Math.ceil((usage.resetsAt - clock.now()) / 1000));
  reply.header("retry-after", seconds);
  const waiting = `Wait ${seconds} second${seconds === 1 ? "" : "s"}.`;
  const { together } = usage;
  const what = together === undefined ? `${usage.limit} requests` : `${together} requests of all your credentials`;
  return new Problem("rate_limit_exceeded", `More than ${what} in this minute. ${waiting}`);
}

/**
 * The client_id of a token request as the token endpoint reads it, from its body or its Basic header; "" when it names
 * none that could be read. Spelled in another way it is the same client.
 */
function clientIdOf(request: FastifyRequest): string {
  const { body } = request;
  const sent: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "client_id") : undefined;
  if (typeof sent === "string") return sent.trim();
  return readBasic(request.headers.authorization ?? "")?.clientId?.trim() ?? "";
}

/** Bits of an IPv6 address that name a network; a host chooses the others as it likes. */
const NETWORK_BITS = 64;

/** IPv4 as sockets show it: reading it would lead to the same text. */
const PLAIN_IPV4 = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/;

/** What requests of an address are counted under: an IPv4 address itself, also a mapped one; of IPv6 its /64. */
function networkOf(ip: string): string {
  if (PLAIN_IPV4.test(ip)) return ip;
  const address = addressOf(ip);
  if (address === null) return ip;
  if (address instanceof ipaddr.IPv4) return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${NETWORK_BITS}`).toString();
}

/**
 * Counts a request of a credential for its partner too: with credentials that it makes itself, a partner would multiply
 * its limit. What the credential's own limit refuses counts there alone.
 */
function together(partners: Windows, counted: Counted, usage: RateUsage): RateUsage | Promise<RateUsage> {
  const { partnerId, environment, partnerPerMinute } = counted;
  if (partnerPerMinute === undefined || !usage.allowed) return usage;
  const of = partners.count(`${partnerId} ${environment}`, partnerPerMinute);
  const both = ({ allowed, limit }: RateUsage): RateUsage =>
    allowed ? usage : { ...usage, remaining: 0, allowed, together: limit };
  return of instanceof Promise ? of.then(both) : both(of);
}

type Refusal = Problem | undefined;

/** Limits per minute of the clock. Contract: Limits; what it leaves open is decided (Tokens, keys, limits). */
export interface RateLimits {
  /** Counts a request once its caller is known, or known not to be; the refusal when it exceeds the limit. */
  refusal(request: FastifyRequest, reply: FastifyReply): Refusal | Promise<Refusal>;
  /** Counts a request of a known client and nothing else; undefined where nothing is counted. */
  count(client: Counted): RateUsage | Promise<RateUsage> | undefined;
  /** Counts a request to the token endpoint by its client_id too, once its body is read. */
  tokenRefusal(request: FastifyRequest, reply: FastifyReply): Promise<Problem | undefined>;
}

/**
 * Limits per client_id and over all credentials of a partner, or per address without a valid token. The token endpoint
 * has windows of its own: other requests of an address never use them up.
 */
export function createRateLimits({ clock }: DaemonContext, counters: Counters): RateLimits {
  const { clients, partners, addresses, tokenClients, tokenAddresses } = counters;
  const count = (counted: Counted) => {
    const usage = clients.count(counted.clientId, counted.ratePerMinute);
    return usage instanceof Promise
      ? usage.then((found) => together(partners, counted, found))
      : together(partners, counted, usage);
  };
  return {
    count,
    refusal(request, reply) {
      const { counted } = request;
      const { rateLimit } = rulesOf(request);
      if (rateLimit === "exempt") return undefined;
      const perAddress = rateLimit === "token" ? tokenAddresses : addresses;
      const usage = counted === undefined ? perAddress.count(networkOf(request.ip), ADDRESS_LIMIT) : count(counted);
      return usage instanceof Promise
        ? usage.then((found) => settle(reply, found, clock))
        : settle(reply, usage, clock);
    },
    async tokenRefusal(request, reply) {
      const network = networkOf(request.ip);
      // Cut, so that a huge id costs no memory here; real ones are far shorter.
      const pair = await tokenClients.count(`${network} ${clientIdOf(request).slice(0, 200)}`, TOKEN_LIMIT);
      const address = await tokenAddresses.look(network, ADDRESS_LIMIT);
      return settle(reply, pair.remaining <= address.remaining ? pair : address, clock);
    },
  };
}

/** For the terminal's requests in process: nothing is counted. */
export const unlimited: RateLimits = {
  refusal: () => undefined,
  count: () => undefined,
  tokenRefusal: async () => undefined,
};
