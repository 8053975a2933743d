import { civilDateAt } from "../../core/kernel/civil-date.ts";
import { invalid, Problem } from "../../core/kernel/problem.ts";
import type { SentPassport } from "../../core/passports/check.ts";
import { editPassport } from "../../core/passports/edit.ts";
import { checkPassports, IMPORT_LIMIT, importPassports, importResult } from "../../core/passports/import.ts";
import { auditPoolRead, listPassports } from "../../core/passports/list.ts";
import { requireAgent } from "../../core/passports/passport.ts";
import { sealAll } from "../../core/passports/seal.ts";
import { withdrawPassport } from "../../core/passports/withdraw.ts";
import { actorOf, type DaemonContext, isLocal } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { callerOf, principalOf } from "../plugins/access.ts";
import {
  PassportEdited,
  PassportImport,
  PassportImportResult,
  PassportPage,
  PassportParams,
  PassportPatch,
  PassportQuery,
  PassportWithdrawn,
} from "../schemas/passport.ts";

/** Contract: Identity pool (KYC). */
export const passportRoutes: RoutePlugin = (app, context) => {
  importRoute(app, context);
  listRoute(app, context);
  changeRoutes(app, context);
};

function importRoute(app: App, { store, clock, ids }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/kyc/passports",
    config: { identity: true, scope: "write:orders", problems: ["validation", "pool_full", "no_agent_record"] },
    // The errors of the schema and of core are reported together: every invalid field of every record at once.
    attachValidation: true,
    schema: {
      operationId: "importPassports",
      tags: ["Identity pool"],
      summary: "Add up to 200 passports to your pool",
      description: "Duplicates are skipped. One invalid record refuses the whole request; nothing is stored.",
      body: PassportImport,
      response: { 201: PassportImportResult },
    },
    async handler(request, reply) {
      const { validationError, rawPayload } = request;
      if (validationError !== undefined) throw withRecordErrors(validationError, rawPayload, civilDateAt(clock.now()));
      const principal = principalOf(request);
      const owner = { partnerId: principal.partnerId, environment: principal.environment };
      await store.read(requireAgent, owner.partnerId);
      const now = clock.now();
      const checked = checkPassports(request.body.records, civilDateAt(now));
      if ("problems" in checked) throw invalid(checked.problems);
      // Sealed here, as the terminal does: the thread that writes gets no clear text.
      const { sealed, texts } = sealAll({ vault: store.vault, ids, now }, owner, checked.ok);
      const input = { ...owner, texts, actor: actorOf(principal) };
      const { skipped } = await store.write(importPassports, input, request.id, principal);
      return reply.code(201).send(importResult(checked.ok, sealed, skipped));
    },
  });
}

/** The schema's refusal with what core finds wrong with the same records. */
function withRecordErrors(refusal: Error, payload: unknown, today: string): Error {
  const records: unknown = typeof payload === "object" && payload !== null ? Reflect.get(payload, "records") : null;
  if (!(refusal instanceof Problem) || refusal.errors === undefined || !Array.isArray(records)) return refusal;
  if (records.length > IMPORT_LIMIT) return refusal;
  const { errors: schemaErrors } = refusal;
  const checked = checkPassports(records.map(textsOf), today);
  const found = "problems" in checked ? Object.entries(checked.problems) : [];
  // A record that is no object has the schema's error alone.
  const more = found.filter(([path]) => schemaErrors[path.split(".").slice(0, 2).join(".")] === undefined);
  return invalid({ ...Object.fromEntries(more), ...schemaErrors });
}

/** The fields of a record that are texts; the schema reports the others. */
function textsOf(record: unknown): SentPassport {
  if (typeof record !== "object" || record === null) return {};
  return Object.fromEntries(Object.entries(record).filter(([, value]) => typeof value === "string"));
}

function listRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/kyc/passports",
    config: { identity: true, scope: "read:orders", problems: ["invalid_cursor", "no_agent_record"] },
    schema: {
      operationId: "listPassports",
      tags: ["Identity pool"],
      summary: "List your pool, newest first, or look up a number",
      description: "Withdrawn records are left out. passport_no looks up exactly that number.",
      querystring: PassportQuery,
      response: { 200: PassportPage },
    },
    async handler(request) {
      const caller = principalOf(request);
      const { partnerId, environment } = caller;
      const page = await store.list(listPassports, { partnerId, environment, ...request.query });
      if (isLocal(caller)) {
        const ids = page.records.map(({ id }) => id);
        await store.write(auditPoolRead, { partnerId, environment, ids, actor: actorOf(caller) }, request.id);
      }
      return page;
    },
  });
}

function changeRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "PATCH",
    url: "/api/v1/kyc/passports/:id",
    config: {
      identity: true,
      scope: "write:orders",
      problems: ["validation", "not_found", "passport_in_use", "passport_conflict", "no_agent_record"],
    },
    schema: {
      operationId: "editPassport",
      tags: ["Identity pool"],
      summary: "Change a passport of your pool",
      description: "Another number, name, date of birth or expiry must be verified again before the passport is drawn.",
      params: PassportParams,
      body: PassportPatch,
      response: { 200: PassportEdited },
    },
    handler(request) {
      const { id } = request.params;
      const caller = callerOf(request);
      return store.write(editPassport, { ...caller, id, change: request.body }, request.id, caller.owner);
    },
  });

  app.route({
    method: "DELETE",
    url: "/api/v1/kyc/passports/:id",
    config: { identity: true, scope: "write:orders", problems: ["not_found", "passport_in_use", "no_agent_record"] },
    schema: {
      operationId: "withdrawPassport",
      tags: ["Identity pool"],
      summary: "Withdraw a passport from your pool",
      description: "It is no longer listed or drawn. 409 once it was used for an activation.",
      params: PassportParams,
      response: { 200: PassportWithdrawn },
    },
    handler(request) {
      const caller = callerOf(request);
      return store.write(withdrawPassport, { ...caller, id: request.params.id }, request.id, caller.owner);
    },
  });
}
