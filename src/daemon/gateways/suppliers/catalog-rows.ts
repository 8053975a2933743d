import type { TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import type { Catalog, Plan, UnreadRow } from "../../../core/supply/provider.ts";
import { fieldErrors } from "../../validation/messages.ts";
import type { Shape } from "../../validation/shape.ts";
import { done, otherForm, type Reply } from "./reply.ts";

/** What a row of a catalog is: a plan, or in words why it cannot be read as one; null: nothing that a sync is about. */
export type ReadRow = Plan | string | null;

/** The field that a row's plan is ordered by, then those that may say to people which one it is. */
type Names = readonly [code: string, ...others: string[]];

/**
 * The rows of a catalog, each with what it was read as: the plans, each once, and what cannot be read, by what
 * identifies it. Where that is most of it, the answer is not what it was.
 */
export function catalogOf(rows: readonly (readonly [unknown, ReadRow])[], names: Names): Reply<Catalog> {
  const plans = new Map<string, Plan>();
  const unread: UnreadRow[] = [];
  for (const [at, [row, found]] of rows.entries()) {
    if (typeof found === "string") unread.push({ row: at + 1, ...identityOf(row, names), reason: found });
    else if (found !== null) plans.set(found.plan, found);
  }
  if (plans.size < unread.length) return otherForm;
  return done({ plans: [...plans.values()], unread });
}

/** What of a row has not the form that it should have, in words. */
export function faultsOf(form: Validator<Record<never, never>, TSchema>, row: unknown): string {
  // A TypeBox schema is JSON Schema.
  const fields = fieldErrors(form.Errors(row), form.Type() as Shape, row, "the row");
  return Object.entries(fields)
    .slice(0, 3)
    .map(([field, words]) => `${field} ${words?.join(" and ")}`)
    .join("; ");
}

function identityOf(row: unknown, [code, ...others]: Names): Pick<UnreadRow, "plan" | "name"> {
  const [name = null] = others.flatMap((field) => textAt(row, field) ?? []);
  return { plan: textAt(row, code), name };
}

function textAt(row: unknown, field: string): string | null {
  const value: unknown = typeof row === "object" && row !== null ? Reflect.get(row, field) : null;
  return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, 100) : null;
}
