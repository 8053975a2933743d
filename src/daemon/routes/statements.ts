import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";
import { findStatement, type Statement, statementName } from "../../core/wallet/statement.ts";
import { statementCsv, statementParts } from "../../core/wallet/statement-text.ts";
import { listStatements } from "../../core/wallet/statements.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { statementPdf } from "../pages/statement-pdf.ts";
import { principalOf } from "../plugins/access.ts";
import {
  StatementCurrency,
  StatementForms,
  StatementMonth,
  StatementPage,
  StatementQuery,
} from "../schemas/statement.ts";

/** Beyond the contract: what a month did to a wallet, for the books. */
export const statementRoutes: RoutePlugin = (app, context) => {
  listRoute(app, context);
  statementRoute(app, context);
};

function listRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/statements",
    config: { scope: "read:orders", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listStatements",
      tags: ["Wallet"],
      summary: "List your monthly statements, newest first",
      description:
        "Every month from the first movement of each wallet to the present one. Sandbox and production share the " +
        "wallet, and its statements.",
      querystring: StatementQuery,
      response: { 200: StatementPage },
    },
    handler(request) {
      const { limit, cursor, currency } = request.query;
      return store.list(listStatements, { partnerId: principalOf(request).partnerId, limit, cursor, currency });
    },
  });
}

function statementRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/statements/:month",
    config: { scope: "read:orders", problems: ["not_acceptable"] },
    schema: {
      operationId: "getStatement",
      tags: ["Wallet"],
      summary: "Read the statement of a month",
      description:
        "The opening balance, every movement, the closing balance: what the next month opens with. Accept says " +
        "whether as JSON, as CSV or as PDF.",
      params: StatementMonth,
      querystring: StatementCurrency,
      response: { 200: StatementForms },
    },
    async handler(request, reply) {
      const form = formOf(request);
      const { partnerId } = principalOf(request);
      const asked = { partnerId, month: request.params.month, currency: request.query.currency };
      const statement = await store.list(findStatement, asked);
      const body = bodies[form](store, statement);
      reply.header("vary", "accept, accept-encoding");
      if (form !== "application/json") {
        reply.header("content-disposition", `attachment; filename="${statementName(statement)}.${form.split("/")[1]}"`);
      }
      return app.sendLongBody(request, reply, () => body, form === "application/pdf" ? form : `${form}; charset=utf-8`);
    },
  });
}

type Body = (store: Store, statement: Statement) => AsyncGenerator<string | Buffer>;

const forms = ["application/json", "text/csv", "application/pdf"] as const;

const bodies: Readonly<Record<(typeof forms)[number], Body>> = {
  "application/json": statementJson,
  "text/csv": statementCsv,
  "application/pdf": statementPdf,
};

/** The form that Accept likes best. Throws `not_acceptable` where it names none of them. */
function formOf({ headers }: FastifyRequest): (typeof forms)[number] {
  const best = new Negotiator({ headers }).mediaType([...forms]);
  const form = forms.find((one) => one === best);
  if (form !== undefined) return form;
  throw new Problem("not_acceptable", `A statement is ${forms.slice(0, -1).join(", ")} or ${forms.at(-1)}.`);
}

/** The JSON of a statement in pieces. */
async function* statementJson(store: Store, statement: Statement): AsyncGenerator<string> {
  yield `${JSON.stringify(statement.figures).slice(0, -1)},"movements":[`;
  let [comma, hash]: [string, string | null] = ["", null];
  for await (const part of statementParts(store, statement)) {
    if (part.movements.length > 0) {
      yield comma + part.movements.map((movement) => JSON.stringify(movement)).join(",");
      comma = ",";
    }
    hash = part.hash;
  }
  yield `],"hash":${JSON.stringify(hash)}}`;
}
