import type { ProviderAnswer } from "./provider.ts";

/** What went well: `data` and `meta.message`. */
export function success(data: unknown, status = 200): ProviderAnswer {
  return { status, body: { data, meta: { message: "success" } } };
}

/** Fields that are refused, each with its sentence. */
export function invalid(fields: Record<string, string>): ProviderAnswer {
  return { status: 422, body: { data: fields, meta: { message: "the parameter is invalid" } } };
}

/** An answer that has only a message: 401, 404, and what a refund refuses. */
export function messageOnly(status: number, message: string): ProviderAnswer {
  return { status, body: { data: [], meta: { message } } };
}

/** What is not there, or not this account's. */
export function notFound(): ProviderAnswer {
  return messageOnly(404, "messages.resource_not_found");
}

/** A refusal that has only a reason: that of an asynchronous order. */
export function reasonOnly(reason: string): ProviderAnswer {
  return { status: 422, body: { reason } };
}

const reasons = {
  11: "Insufficient Airalo Credit: %",
  13: "The requested operator is currently undergoing maintenance. Please try again later.",
  23: "The requested top-up has been disabled by the operator. %",
  33: "Insufficient stock of eSIMs remaining: %. Please try your request again later.",
  34: "The requested eSIM package is invalid or it is currently out of stock. Please try again later.",
  43: "Bad request. % Please check your input and try again.",
  53: "Something unexpected happened. We're working to resolve the issue. Please try again later.",
  73: "The eSIM with iccid % has been recycled. It can no longer be used or topped up.",
};

/** The codes of refusals that the provider names with a code and a reason. */
export type AiraloCode = keyof typeof reasons;

/** A refusal by code; `detail` fills the place in its sentence. */
export function refused(code: AiraloCode, detail = ""): ProviderAnswer {
  return { status: 422, body: { code, reason: reasons[code].replace("%", detail).trim() } };
}

/** A moment as most answers have it: in UTC, without a zone. */
export function plainMoment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** A moment as the package history has it. */
export function offsetMoment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
}
