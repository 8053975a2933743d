import type { FastifyReply, FastifyRequest } from "fastify";
import type { ComponentChildren } from "preact";
import { type ConsolePermission, mayInConsole, mayInPortal, type PortalPermission } from "../../core/accounts/roles.ts";
import type { SessionRow } from "../../core/accounts/sessions.ts";
import type { Actor } from "../../core/audit/record.ts";
import type { MinorUnits, PartnerId, UserId } from "../../core/kernel/brand.ts";
import { dateFault } from "../../core/kernel/dated.ts";
import { currencyDecimals, parseMoney } from "../../core/kernel/money.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { invalid, type Problem } from "../../core/kernel/problem.ts";
import type { PartnerRole, StaffRole } from "../../core/store/schema/values.ts";
import type { Command, Store } from "../../core/store/store.ts";
import type { DaemonContext } from "../../daemon/context/context.ts";
import type { Progress } from "./progress.ts";

/** The partners' pages, or the operator's. */
export type Face = "portal" | "console";

/** What was sent by a form, by field: a field that is there more than once, and files, are kept as they are. */
export type Form = Readonly<Record<string, unknown>>;

/** One request for a page, by any visitor. */
export interface Visit {
  face: Face;
  /** The path that the pages of this face are under, with the public address's own. */
  base: string;
  request: FastifyRequest;
  reply: FastifyReply;
  context: DaemonContext;
  store: Store;
  /** What a form has to send back. */
  csrf: string;
  /** The time zone of the user. */
  zone: string;
  /** Words about what was done just now. */
  notice: string | null;
  /** The address's own fields, and those of a form that was sent. */
  query: Form;
  form: Form;
  /** How far what the form asks for is. */
  progress: Progress;
  /** Why the form that was sent is shown again. */
  problem: Problem | null;
  /** What the fields that were drawn so far are called, by the names they are sent under. */
  labels: Map<string, string>;
}

/** A person who is signed in. */
export interface SignedInVisit extends Visit {
  session: SessionRow;
  user: { id: UserId; name: string; email: string };
  actor: Actor;
  /**
   * Runs a command as this person's act: on behalf of the partner whose portal it is, where it is one's. What it writes
   * can be found by the request's id.
   */
  write: Run;
  /** The same, all of which is taken back: what would come of it. */
  rehearse: Run;
  /** Whether a second factor is asked for, and was given lately. */
  factor: { has: boolean; must: boolean; fresh: boolean };
}

/** The input of a command that names who acts. */
export interface Acted {
  actor?: Actor | undefined;
}

/** Runs a command whose actor is known. */
export type Run = <I extends Acted, O>(command: Command<I, O>, input: Omit<I, "actor">) => Promise<O>;

/** A person in the portal of a partner. */
export interface PortalVisit extends SignedInVisit {
  face: "portal";
  partner: { id: PartnerId; slug: string; name: string; production: boolean };
  role: PartnerRole;
  /** Whose records are shown. */
  owner: Owner;
  /** A member of staff who looks at it: nothing can be changed. */
  viewing: boolean;
  may(permission: PortalPermission): boolean;
}

/** A member of the operator's staff in the console. */
export interface ConsoleVisit extends SignedInVisit {
  face: "console";
  role: StaffRole;
  reveal: boolean;
  may(permission: ConsolePermission): boolean;
}

/** What a page answers. */
export type Shown =
  | { title: string; body: ComponentChildren; status?: number; secret?: true }
  | { to: string; face?: Face; notice?: string }
  /** Pieces are sent as they are made. */
  | { file: string | Buffer | AsyncIterable<string | Uint8Array>; type: string; name?: string };

/** Whether a role in the portal allows it; staff that look at it may read alone. */
export function portalMay({ role, viewing }: Pick<PortalVisit, "role" | "viewing">, permission: PortalPermission) {
  if (viewing && (permission.endsWith(".write") || permission === "wallet.fund" || permission === "team")) return false;
  return mayInPortal(role, permission);
}

/** Whether a role in the console allows it. */
export function consoleMay(visit: Pick<ConsoleVisit, "role" | "reveal">, permission: ConsolePermission): boolean {
  return mayInConsole(visit, permission);
}

/**
 * A part of the address by its name in the page's path. Any text may be in it: the database decides whether it is the
 * id of anything.
 */
export function partIn<I extends string = string>({ request }: Pick<Visit, "request">, name: string): I {
  // Fastify has it under the name that is in the path.
  return (request.params as Readonly<{ [part: string]: I }>)[name] ?? ("" as I);
}

/** The part of the address that names a record. */
export function idIn<I extends string = string>(visit: Pick<Visit, "request">): I {
  return partIn(visit, "id");
}

/** A field as one text without blanks around it; "" where it is missing. */
export function field(form: Form, name: string): string {
  const value = form[name];
  return typeof value === "string" ? value.trim() : "";
}

/** A field that may be left out. */
export function optionalField(form: Form, name: string): string | undefined {
  return field(form, name) || undefined;
}

/** A field that must be there. Throws `validation`. */
export function requiredField(form: Form, name: string): string {
  const value = field(form, name);
  if (value === "") throw invalid({ [name]: ["is required"] });
  return value;
}

/**
 * A field that is an amount, as minor units: plain, or with its thousands set apart as pages write them. Throws
 * `validation` for any other comma: who types "1,50" does not mean 150.
 */
export function moneyField(form: Form, name: string, currency: string): MinorUnits {
  const typed = requiredField(form, name);
  const grouped = /^\d{1,3}(?:,\d{3})+(\.\d+)?$/.exec(typed);
  // "1,234" of a currency with three decimals can be either.
  const isClear = grouped !== null && (grouped[1] !== undefined || currencyDecimals(currency) !== 3);
  return parseMoney(isClear ? typed.replaceAll(",", "") : typed, currency, name);
}

/** The values of a field that may be there more than once. */
export function fields(form: Form, name: string): string[] {
  const value = form[name];
  const all = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return all.filter((one): one is string => typeof one === "string" && one !== "");
}

/** A field that is a whole number. Throws `validation`. */
export function integerField(form: Form, name: string): number {
  const value = requiredField(form, name);
  if (!/^-?\d{1,15}$/.test(value)) throw invalid({ [name]: ["must be a whole number"] });
  return Number(value);
}

/** The same; null where it is empty. */
export function numberOrNull(form: Form, name: string): number | null {
  return field(form, name) === "" ? null : integerField(form, name);
}

/** More choices than these are not named: they may be all partners. */
const MOST_NAMED = 12;

/** One of some words. Throws `validation`. */
export function choiceField<const C extends string>(form: Form, name: string, words: readonly C[]): C {
  const value = requiredField(form, name);
  const found = words.find((word) => word === value);
  const choices = words.length > MOST_NAMED ? "the choices" : words.join(", ");
  if (found === undefined) throw invalid({ [name]: [`must be one of ${choices}`] });
  return found;
}

/** The same; undefined where it is empty. */
export function chosen<const C extends string>(form: Form, name: string, words: readonly C[]): C | undefined {
  return field(form, name) === "" ? undefined : choiceField(form, name, words);
}

/** A field that is a day of the calendar, YYYY-MM-DD; undefined where it is empty. Throws `validation`. */
export function calendarDay(form: Form, name: string): string | undefined {
  const day = optionalField(form, name);
  const fault = day === undefined ? null : dateFault(day);
  if (fault !== null) throw invalid({ [name]: [fault] });
  return day;
}
