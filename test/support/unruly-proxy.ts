import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What a proxy or a line may do to a request. */
export type Mischief =
  /** Refuses it with a 429 and a Retry-After of a second. */
  | "limit"
  /** Hangs up before the server hears of it. */
  | "hang up"
  /** Forwards it, then closes the connection in place of the response. */
  | "lose the answer"
  /** Answers 503. */
  | "unavailable"
  /** Refuses the token as too old. */
  | "expire"
  /** Sends it on to another address. */
  | "redirect"
  /** Answers with a page for people. */
  | "page";

/** A real server between the terminal and a daemon, which fails on request. */
export interface UnrulyProxy {
  url: string;
  /** Every request received, as "METHOD /path". */
  seen: string[];
  /** The next `times` requests that match get this; they must not have been sent yet. */
  misbehave(matches: RegExp, how: Mischief, times?: number): void;
}

const PROBLEM = { "content-type": "application/problem+json" };

/** Starts one before the daemon at `target`; it ends with the test. */
export async function startUnrulyProxy(target: string): Promise<UnrulyProxy> {
  const seen: string[] = [];
  const plans: { matches: RegExp; how: Mischief; times: number }[] = [];
  const server = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    seen.push(line);
    const plan = plans.find(({ matches, times }) => times > 0 && matches.test(line));
    if (plan !== undefined) plan.times -= 1;
    await answer(target, plan?.how ?? null, { request, response });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on an address and port, as this one, has both.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    misbehave: (matches, how, times = 1) => void plans.push({ matches, how, times }),
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

async function answer(target: string, how: Mischief | null, { request, response }: Exchange): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const problem = (status: number, slug: string, headers = {}) =>
    response.writeHead(status, { ...PROBLEM, ...headers }).end(JSON.stringify({ type: `x/${slug}`, detail: slug }));
  if (how === "limit") problem(429, "rate_limit_exceeded", { "retry-after": "1" });
  else if (how === "expire") problem(401, "token_expired");
  else if (how === "unavailable") response.writeHead(503, { "content-type": "text/html" }).end("<h1>Away</h1>");
  else if (how === "page") response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
  else if (how === "redirect") response.writeHead(308, { location: "https://elsewhere.example/" }).end();
  else if (how === "hang up") request.socket.destroy();
  else await forward(target, Buffer.concat(chunks), { request, response, loses: how === "lose the answer" });
}

async function forward(
  target: string,
  body: Buffer,
  { request, response, loses }: Exchange & { loses: boolean },
): Promise<void> {
  const { host, connection, ...headers } = request.headers;
  const answered = await fetch(`${target}${request.url}`, {
    method: request.method ?? "GET",
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
  const text = await answered.text();
  if (loses) return void request.socket.destroy();
  const { "content-encoding": _, "content-length": __, ...kept } = Object.fromEntries(answered.headers);
  response.writeHead(answered.status, kept).end(text);
}
