import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request that the supplier got. */
export interface SupplierRequest {
  headers: IncomingMessage["headers"];
  raw: string;
  body: Record<string, unknown>;
}

/** A real HTTP supplier on loopback; `answer` decides its responses. It ends with the test. */
export async function httpSupplier(answer: (asked: SupplierRequest) => { status?: number; body: unknown }) {
  const asked: SupplierRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a request's chunks are buffers
    const raw = Buffer.concat(chunks).toString();
    const one = { headers: request.headers, raw, body: JSON.parse(raw) };
    asked.push(one);
    const { status = 200, body } = answer(one);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/esims` }; // it listens on a port
}
