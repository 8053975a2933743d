import csrf from "@fastify/csrf";
import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/kernel/problem.ts";
import type { Vault } from "../../core/store/vault.ts";
import { type Form, field } from "./visit.ts";

/** The hidden field of every form. */
export const CSRF_FIELD = "_csrf";

const tokens = new csrf.Tokens({ userInfo: false });

/** What the tokens of a session, or of a visitor without one, are made with. */
export function csrfSecret(vault: Vault, bound: string): string {
  return vault.blindIndex("csrf", bound);
}

/** A token for a form, another one each time: its length and text reveal nothing in a compressed page. */
export function csrfToken(secret: string): string {
  return tokens.create(secret);
}

/** Refuses a form that comes from another origin, or without the token of its session. Throws `forbidden`. */
export function requireOwnForm(request: FastifyRequest, form: Form, secret: string, publicUrl: string): void {
  const { origin, host } = request.headers;
  const isOwn = origin === undefined || origin === new URL(publicUrl).origin || URL.parse(origin)?.host === host;
  const site = request.headers["sec-fetch-site"];
  const fromElsewhere = origin === undefined && site !== undefined && site !== "same-origin" && site !== "none";
  if (!isOwn || fromElsewhere) throw new Problem("forbidden", "The form comes from another site.");
  if (tokens.verify(secret, field(form, CSRF_FIELD))) return;
  throw new Problem("forbidden", "The form is out of date. Load the page again, and send it once more.");
}
