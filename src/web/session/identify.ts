import type { FastifyReply, FastifyRequest } from "fastify";
import { factorsOf } from "../../core/accounts/factors.ts";
import { findSession, type SessionRow, STEP_UP_MS, touchSession } from "../../core/accounts/sessions.ts";
import { actorOfUser, membershipsOf, profileOf, type UserRow } from "../../core/accounts/user.ts";
import type { Actor } from "../../core/audit/record.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { partnerById } from "../../core/partners/partner.ts";
import type { Row } from "../../core/store/schema/tables.ts";
import type { PartnerRole } from "../../core/store/schema/values.ts";
import type { Read } from "../../core/store/store.ts";
import { pathPrefix } from "../../daemon/context/addresses.ts";
import type { DaemonContext } from "../../daemon/context/context.ts";
import { readCookie, setCookie, zoneOf } from "./cookies.ts";
import { csrfSecret, csrfToken } from "./csrf.ts";
import { progressOf } from "./progress.ts";
import {
  type Acted,
  type ConsoleVisit,
  consoleMay,
  type Face,
  type Form,
  type PortalVisit,
  portalMay,
  type Run,
  type SignedInVisit,
  type Visit,
} from "./visit.ts";

/** A visit of a page, and what its forms are bound to. */
export interface Identified {
  visit: Visit | PortalVisit | ConsoleVisit;
  /** Null: no one is signed in. */
  signedIn: SignedInVisit | null;
  /** The portal or the console, where the role allows one of its pages at all. */
  inside: PortalVisit | ConsoleVisit | null;
  secret: string;
}

/** What the database knows of the cookie's session. */
interface Known {
  session: SessionRow;
  user: UserRow;
  isStale: boolean;
  hasFactor: boolean;
  partner: Row<"partners"> | null;
  role: PartnerRole | null;
  profile: { name: string; email: string };
  now: number;
}

async function readKnown(q: Read, token: string): Promise<Known | null> {
  const found = await findSession(q, token);
  if (found === null) return null;
  const { session, user } = found;
  const partnerId = session.partner_id ?? session.view_as;
  const memberships = session.partner_id === null ? [] : await membershipsOf(q, user.id);
  const { email, name } = profileOf(q, user);
  return {
    ...found,
    hasFactor: (await factorsOf(q, user.id)).factors.length > 0,
    partner: partnerId === null ? null : await partnerById(q, partnerId),
    role: memberships.find((one) => one.accepted && one.partner_id === session.partner_id)?.role ?? null,
    profile: { email, name: name ?? email },
    now: q.now,
  };
}

/** Who visits a page: no one known, or a person with a session in the portal or the console. */
export async function identify(
  context: DaemonContext,
  { face, request, reply }: { face: Face; request: FastifyRequest; reply: FastifyReply },
): Promise<Identified> {
  const { store, addresses } = context;
  const token = readCookie(request, "session");
  const known = token === null ? null : await store.read(readKnown, token);
  const bound = known === null ? visitorOf(context, request, reply) : known.session.id;
  const secret = csrfSecret(store.vault, bound);
  const visit: Visit = {
    face,
    base: `${pathPrefix(addresses.publicUrl)}/${face}`,
    request,
    reply,
    context,
    store,
    csrf: csrfToken(secret),
    zone: zoneOf(request),
    notice: null,
    // Fastify reads both into plain objects.
    query: (request.query ?? {}) as Form,
    form: {},
    progress: progressOf(request, reply),
    problem: null,
    labels: new Map(),
  };
  if (known === null) return { visit, signedIn: null, inside: null, secret };
  if (known.isStale) await store.write(touchSession, known.session.id);
  const signedIn = signedInVisit(visit, known);
  const inside = face === "portal" ? portalVisit(signedIn, known) : consoleVisit(signedIn, known);
  return { visit: inside ?? signedIn, signedIn, inside, secret };
}

/** What the forms of a visitor without a session are bound to, made at the first page. */
function visitorOf({ ids }: DaemonContext, request: FastifyRequest, reply: FastifyReply): string {
  const known = readCookie(request, "visitor");
  if (known !== null && /^[\w-]{43}$/.test(known)) return known;
  const made = ids.bytes(32).toString("base64url");
  setCookie(reply, "visitor", made);
  return made;
}

function signedInVisit(visit: Visit, { session, user, partner, hasFactor, profile, now }: Known): SignedInVisit {
  const must = user.staff_role !== null || partner?.factor_required === true;
  const fresh = session.factor_at !== null && session.factor_at > now - STEP_UP_MS;
  const actor = actorOfUser(user.id);
  return {
    ...visit,
    session,
    user: { id: user.id, ...profile },
    actor,
    ...runsOf(visit, actor),
    factor: { has: hasFactor, must, fresh },
  };
}

/** Runs of commands as acts of one person. */
function runsOf({ store, request }: Visit, actor: Actor, owner?: Owner): { write: Run; rehearse: Run } {
  // What a command takes is its input without its actor, and that.
  const whole = <I extends Acted>(input: Omit<I, "actor">) => ({ ...input, actor }) as I;
  return {
    write: (command, input) => store.write(command, whole(input), request.id, owner),
    rehearse: (command, input) => store.rehearse(command, whole(input)),
  };
}

function portalVisit(visit: SignedInVisit, { session, partner, role, user }: Known): PortalVisit | null {
  const viewing = session.view_as !== null && user.staff_role !== null;
  const held = viewing ? "owner" : role;
  if (partner === null || held === null) return null;
  const { id, slug, name, production } = partner;
  const owner: Owner = { partnerId: id, environment: production ? session.environment : "sandbox" };
  return {
    ...visit,
    ...runsOf(visit, visit.actor, owner),
    face: "portal",
    partner: { id, slug, name, production },
    role: held,
    owner,
    viewing,
    may: (permission) => portalMay({ role: held, viewing }, permission),
  };
}

function consoleVisit(visit: SignedInVisit, { user }: Known): ConsoleVisit | null {
  const { staff_role: role, reveal } = user;
  if (role === null) return null;
  return { ...visit, face: "console", role, reveal, may: (permission) => consoleMay({ role, reveal }, permission) };
}
