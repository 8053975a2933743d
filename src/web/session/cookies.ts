import type {} from "@fastify/cookie"; // adds cookies to requests and replies
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * The cookies of the pages. `__Host-` binds them to this host and to TLS, which browsers do not demand of loopback.
 * The session's token is in `session`; `visitor` binds the forms before it; `notice` says once what was done.
 */
const names = {
  session: "__Host-esimctl",
  visitor: "__Host-esimctl-visitor",
  notice: "__Host-esimctl-notice",
} as const;
type Name = keyof typeof names;

const attributes = { path: "/", secure: true, httpOnly: true, sameSite: "lax" } as const;

/** The value of a cookie; null: it was not sent. */
export function readCookie(request: FastifyRequest, name: Name): string | null {
  return cookiesOf(request)[names[name]] ?? null;
}

/** Sets a cookie for as long as the browser runs. */
export function setCookie(reply: FastifyReply, name: Name, value: string): void {
  reply.setCookie(names[name], value, attributes);
}

/** Removes a cookie. */
export function dropCookie(reply: FastifyReply, name: Name): void {
  reply.clearCookie(names[name], attributes);
}

/** Zones by what browsers called them: each look-up takes as long as to write ten rows of a list. */
const zones = new Map<string, string>([["UTC", "UTC"]]);
const MOST_ZONES = 600;

/** The user's time zone, which the browser's script says; UTC without it. */
export function zoneOf(request: FastifyRequest): string {
  const said = cookiesOf(request)["esimctl-zone"] ?? "UTC";
  const known = zones.get(said);
  if (known !== undefined) return known;
  try {
    const zone = new Intl.DateTimeFormat("en", { timeZone: said }).resolvedOptions().timeZone;
    if (zones.size < MOST_ZONES) zones.set(said, zone);
    return zone;
  } catch {
    return "UTC";
  }
}

/** A request that is refused early has not been read by the plugin. */
function cookiesOf({ cookies, server, headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return cookies ?? server.parseCookie(headers.cookie ?? "");
}
