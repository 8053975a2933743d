import type { ConsolePermission, PortalPermission } from "../../core/accounts/roles.ts";
import type { ConsoleVisit, Face, PortalVisit, Shown, SignedInVisit, Visit } from "./visit.ts";

/**
 * Who may see a page beside those whose role allows it: `visitor`, anyone; `session`, a person whose second factor may
 * still be missing; `account`, a person who is signed in, in whatever role.
 */
export type Need = PortalPermission | ConsolePermission | "visitor" | "session" | "account";

/** One address of a face: what it shows, and what a form that is sent to it does. */
export interface PageOf<V extends Visit> {
  /** Under the face's base, as Fastify writes it: "/orders/:id". */
  path: string;
  needs: Need;
  show?(visit: V): Promise<Shown> | Shown;
  act?(visit: V): Promise<Shown> | Shown;
  /** What is shown again where `act` refuses; left out: what `show` shows. */
  again?(visit: V): Promise<Shown> | Shown;
  /** The act asks for the second factor again after ten minutes. */
  stepUp?: true;
  /** It may show a secret: it is not compressed with what a sender chose. */
  secret?: true;
}

/** A page of a face as it is registered. */
export interface RegisteredPage {
  face: Face;
  page: PageOf<never>;
}

/** A page of the portal. */
export function portalPage(page: PageOf<PortalVisit> & { needs: PortalPermission }): RegisteredPage {
  return { face: "portal", page };
}

/** A page of the console. */
export function consolePage(page: PageOf<ConsoleVisit> & { needs: ConsolePermission }): RegisteredPage {
  return { face: "console", page };
}

/** The same page in both faces: for visitors, and for a user's own account. */
export function sharedPage(page: PageOf<Visit> & { needs: "visitor" }): RegisteredPage[];
/** The same for a person who is signed in. */
export function sharedPage(page: PageOf<SignedInVisit> & { needs: "account" | "session" }): RegisteredPage[];
/** The same, however it is typed. */
export function sharedPage(page: PageOf<never>): RegisteredPage[] {
  return [
    { face: "portal", page },
    { face: "console", page },
  ];
}
