import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import { NO_STORE } from "./http-rules.ts";
import { problemBody } from "./problems.ts";
import { securityHeaders } from "./security-headers.ts";

const REASONS: Record<string, { status: number; detail: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request did not arrive in time." },
  HPE_HEADER_OVERFLOW: { status: 431, detail: "The head of the request is larger than 16 KiB." },
};

/** The whole HTTP response, as bytes for the socket, to what was no HTTP request that can be read. */
function rawResponse(error: { code?: string }, context: DaemonContext): string {
  const reason = REASONS[error.code ?? ""] ?? { status: 400, detail: "This is not a well-formed HTTP request." };
  const requestId = context.ids.uuid(context.clock.now());
  const problem = problemBody(new Problem("invalid_request", reason.detail), { requestId }, context);
  const body = JSON.stringify({ ...problem, status: reason.status });
  return [
    `HTTP/1.1 ${reason.status} ${STATUS_CODES[reason.status]}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    `Cache-Control: ${NO_STORE}`,
    ...Object.entries(securityHeaders(context)).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** Answers what Node's HTTP parser refuses with a problem body too, as far as the socket still takes one. */
export function clientErrorHandler(context: DaemonContext): (error: { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // Node keeps the response under way on the socket: nothing may be written in the middle of it.
    const answering: unknown = Reflect.get(socket, "_httpMessage");
    if (error.code === "ECONNRESET" || !socket.writable || answering) return void socket.destroy();
    socket.end(rawResponse(error, context), () => socket.destroy());
  };
}
