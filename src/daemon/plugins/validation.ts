import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import type { FastifyRequest, FastifySchemaCompiler, FastifySerializerCompiler } from "fastify";
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { invalid, Problem } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";
import { clearingFaults } from "../validation/clearing.ts";
import { fieldErrors } from "../validation/messages.ts";
import type { Shape } from "../validation/shape.ts";
import { checkText } from "../validation/text.ts";
import { tidier, withoutEmpty } from "../validation/tidy.ts";

// 200 passports with every field wrong are all named; TypeBox stops at 8 by default.
Settings.Set({ maxErrors: 5_000 });

const WHOLE: Record<string, string> = { body: "body", querystring: "query", params: "path", headers: "headers" };

type RequestValidator = ReturnType<FastifySchemaCompiler<TSchema>>;

/**
 * Compiles a request schema: tidies (see tidy.ts), checks, and answers with the tidied value or with a `validation`
 * problem that names every wrong field of this part in words. Bodies are never coerced; query strings and path
 * parameters are read from text. A body wrapped in Type.Optional may be missing: the handler then sees {}. In the body
 * of a PATCH null clears, and is refused where a field cannot be cleared; in others it counts as absent.
 */
function requestValidator(schema: TSchema, httpPart: string, isPatch: boolean): RequestValidator {
  const shape = schema as Shape; // a TypeBox schema is JSON Schema
  const validator = Compile(schema);
  const read = tidier(shape, httpPart !== "body");
  const isQuery = httpPart === "querystring";
  const tidy = isQuery ? (sent: unknown) => read(withoutEmpty(sent)) : read;
  const defaults = isQuery ? checked(validator, read({})) : null;
  const whole = WHOLE[httpPart] ?? httpPart;
  const optional = Type.IsOptional(schema);
  const cleared = isPatch ? clearingFaults(shape) : () => ({});
  return (sent: unknown) => {
    if (defaults !== null && isEmpty(sent)) return { value: { ...defaults } };
    if (httpPart === "body" && sent === null && !optional) return { error: invalid({ body: ["is required"] }) };
    const value = tidy(sent === null && optional ? {} : sent);
    const wrong = validator.Check(value) ? {} : fieldErrors(validator.Errors(value), shape, value, whole);
    const errors = { ...wrong, ...cleared(sent) };
    if (!isEmpty(errors)) return { error: invalid(errors) };
    // Headers are checked, not replaced: undeclared ones must stay.
    return httpPart === "headers" ? true : { value };
  };
}

/** A value that a schema allows, where it is an object. */
function checked(validator: { Check(value: unknown): boolean }, value: unknown): object | null {
  return typeof value === "object" && value !== null && validator.Check(value) ? value : null;
}

/** Whether an object has no fields. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== "object") return false;
  for (const _key in value) return false;
  return true;
}

const validators = new WeakMap<object, Map<string, RequestValidator>>();

/** `make`'s function, made at its first call: a start compiles no schema of an unused route. */
function atFirstCall<I, O>(make: () => (input: I) => O): (input: I) => O {
  let made: ((input: I) => O) | undefined;
  return (input) => {
    made ??= make();
    return made(input);
  };
}

/**
 * Compiles a request schema once for each part of a request, and once more for bodies of PATCH: routes share schemas,
 * as do the apps of a process.
 */
const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, method, httpPart = "body" }) => {
  const isPatch = method === "PATCH" && httpPart === "body";
  const kind = isPatch ? "patch" : httpPart;
  const known = validators.get(schema) ?? new Map<string, RequestValidator>();
  validators.set(schema, known);
  const validator = known.get(kind) ?? atFirstCall(() => requestValidator(schema, httpPart, isPatch));
  known.set(kind, validator);
  return validator;
};

/** Reads a part of a body by its own schema, tidied as bodies are. Throws `validation`; paths begin in the part. */
export function bodyReader<T extends TSchema>(schema: T): (sent: unknown) => Static<T> {
  const validate = compileValidator({ schema, method: "", url: "", httpPart: "body" });
  return (sent) => {
    const outcome: unknown = validate(sent);
    const found = typeof outcome === "object" && outcome !== null ? outcome : {};
    if ("error" in found) throw found.error;
    // The schema was checked against it.
    return Reflect.get(found, "value") as Static<T>;
  };
}

const PARTS = ["params", "body", "querystring", "headers"] as const;
type Part = (typeof PARTS)[number];

/** The part of the request that a refusal by a route's schema is about; Fastify notes it on the error. */
function refusedPart(error: unknown): Part | undefined {
  const context: unknown = error instanceof Problem ? Reflect.get(error, "validationContext") : undefined;
  return PARTS.find((part) => part === context);
}

/**
 * The refusal by a route's schema with what is wrong with the other parts of the request too: Fastify stops at the
 * first part. Any other error is returned as it is.
 */
export function withEveryPart(error: unknown, request: FastifyRequest): unknown {
  const refused = refusedPart(error);
  if (refused === undefined || !(error instanceof Problem) || error.errors === undefined) return error;
  const { params, body, query, headers } = request;
  const sent = { params, body: body ?? null, querystring: query, headers };
  const later = PARTS.slice(PARTS.indexOf(refused) + 1).flatMap((part): Problem[] => {
    const result: unknown = request.getValidationFunction(part)?.(sent[part]);
    const fault: unknown = typeof result === "object" && result !== null ? Reflect.get(result, "error") : undefined;
    return fault instanceof Problem ? [fault] : [];
  });
  return later.length === 0 ? error : invalid(Object.assign({}, error.errors, ...later.map(({ errors }) => errors)));
}

type Serializer = (doc: unknown) => string;

const compileResponse = SerializerSelector()({}, {});
const serializers = new WeakMap<object, Serializer>();

/** What serializes values of a response schema. Compiled once: routes share schemas, as do GET and HEAD of a route. */
export function serializerOf(schema: TSchema): Serializer {
  const known = serializers.get(schema);
  if (known !== undefined) return known;
  const serializer = atFirstCall((): Serializer => compileResponse({ schema, url: "", method: "", httpStatus: "" }));
  serializers.set(schema, serializer);
  return serializer;
}

const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => serializerOf(schema);

/** Validation of all requests: no NUL or broken text anywhere, then the route's schemas. */
export function registerValidation(app: App): void {
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.decorateRequest("rawPayload", undefined);
  app.addHook("preValidation", (request, _reply, done) => {
    request.rawPayload = request.body;
    checkText(request.params);
    checkText(request.query);
    checkText(request.body);
    done();
  });
}
