import { isUtf8 } from "node:buffer";
import formbody from "@fastify/formbody";
import { Problem } from "../../core/kernel/problem.ts";
import type { App } from "../http.ts";

/** The largest body that is read, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

/**
 * Reads JSON bodies and nothing else. Malformed JSON, other text than UTF-8 and the keys that could reach a prototype
 * are `invalid_request`.
 */
export function registerBodies(app: App): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    if (!isUtf8(body)) return done(new Problem("invalid_request", "The body is not UTF-8 text."));
    parseJson(request, body.toString("utf8"), done);
  });
}

/** Lets the routes of this scope read form-urlencoded bodies too. */
export function acceptForms(app: App): void {
  app.register(formbody, { bodyLimit: BODY_LIMIT });
}
