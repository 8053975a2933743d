import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import {
  createOwnCredential,
  deleteOwnCredential,
  listOwnCredentials,
  type Manager,
  rotateOwnCredential,
} from "../../core/credentials/own.ts";
import { credentialOf, type DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { callerOf, principalOf } from "../plugins/access.ts";
import {
  CredentialPage,
  CredentialParams,
  CredentialQuery,
  CredentialSecret,
  NewCredential,
} from "../schemas/credential.ts";

/** A partner's own credentials, for tokens with all scopes. */
export const credentialRoutes: RoutePlugin = (app, context) => {
  listRoute(app, context);
  createRoute(app, context);
  changeRoutes(app, context);
};

function managerOf(request: FastifyRequest): Manager {
  const { owner, actor } = callerOf(request);
  const { partnerId, environment } = owner;
  return { owner: { partnerId, environment }, credential: credentialOf(owner), actor };
}

function listRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/credentials",
    config: { scope: "all", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listCredentials",
      tags: ["Credentials"],
      summary: "List your credentials, newest first",
      description:
        "Credentials of the environment of your token, by a token of production those of the sandbox too, with their " +
        "guard rails; revoked ones too. Needs a token with all six scopes.",
      querystring: CredentialQuery,
      response: { 200: CredentialPage },
    },
    handler: (request) => store.list(listOwnCredentials, { owner: managerOf(request).owner, ...request.query }),
  });
}

function createRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/credentials",
    // The answer holds a secret beside texts that the caller chose.
    compress: false,
    config: {
      scope: "all",
      problems: ["production_not_enabled", "production_token_required", "too_many_credentials"],
    },
    schema: {
      operationId: "createCredential",
      tags: ["Credentials"],
      summary: "Create a credential",
      description:
        "Its secret is in this response only. It has the guard rails of the credential that creates it and shares " +
        "its caps. A token of the sandbox creates production's first credential, if the operator enabled production; " +
        "further ones need a token of production. Needs a token with all six scopes.",
      body: NewCredential,
      response: { 201: CredentialSecret },
    },
    async handler(request, reply) {
      const input = { ...request.body, manager: managerOf(request) };
      const created = await store.write(createOwnCredential, input, request.id, principalOf(request));
      return reply.code(201).send(created);
    },
  });
}

function changeRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/credentials/:client_id/rotate",
    compress: false,
    config: { scope: "all", problems: ["not_found", "conflict", "guard_rails_apply"] },
    schema: {
      operationId: "rotateCredential",
      tags: ["Credentials"],
      summary: "Replace the secret of a credential",
      description:
        "The new secret is in this response only. The old one is refused at once; tokens already issued stay valid " +
        "until they expire. Needs a token with all six scopes.",
      params: CredentialParams,
      response: { 200: CredentialSecret },
    },
    handler(request) {
      const input = { manager: managerOf(request), clientId: request.params.client_id };
      return store.write(rotateOwnCredential, input, request.id, principalOf(request));
    },
  });

  app.route({
    method: "DELETE",
    url: "/api/v1/credentials/:client_id",
    config: { scope: "all", problems: ["not_found", "last_credential", "guard_rails_apply"] },
    schema: {
      operationId: "deleteCredential",
      tags: ["Credentials"],
      summary: "Revoke a credential and its tokens",
      description:
        "It and its tokens stop working at once. The last one that can manage the credentials of its environment " +
        "stays. Needs a token with all six scopes.",
      params: CredentialParams,
      response: { 204: Type.Null({ description: "Revoked" }) },
    },
    async handler(request, reply) {
      const input = { manager: managerOf(request), clientId: request.params.client_id };
      await store.write(deleteOwnCredential, input, request.id, principalOf(request));
      return reply.code(204).send(null);
    },
  });
}
