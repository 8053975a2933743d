import { constants } from "node:zlib";
import type {} from "@fastify/compress"; // adds `compress` to routes
import { ownBytes } from "../../core/kernel/own-bytes.ts";
import type { App } from "../context/fastify.ts";

/** Smaller answers fit into one packet as they are. */
const LEAST_BYTES = 1024;

/** Larger ones are compressed off the main thread, in which they would hold up other requests. */
const MOST_BYTES_AT_ONCE = 32 * 1024;

/**
 * Compresses texts of 1 KiB or more for clients that ask for it. Each chunk of a stream is sent as it comes. Answers
 * with a secret are left out by their routes (`compress: false`), since their length would depend on the secret.
 */
export function registerCompression(app: App): void {
  app.register(import("@fastify/compress"), {
    encodings: ["br", "gzip"],
    threshold: LEAST_BYTES,
    syncThreshold: MOST_BYTES_AT_ONCE,
    globalDecompression: false,
    // Quality 1 costs less than gzip and is as small; 4 costs three times as much for a tenth less.
    brotliOptions: {
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
    },
    zlibOptions: { flush: constants.Z_SYNC_FLUSH, level: 5 },
  });
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("vary", "accept-encoding");
    done();
  });
  // Its hook on each route comes before the one that looks at what it has done.
  app.after(() => keepCompressed(app));
}

declare module "fastify" {
  interface FastifyReply {
    /** The bytes that are compressed for this reply, and what the request accepts. */
    compressing: { plain: Buffer; accepted: string } | undefined;
  }
}

/** Bytes in a content coding. */
interface Coded {
  coding: string;
  bytes: Buffer;
}

/** Clients differ in how they spell what they accept; of each response so many spellings are kept, and no long ones. */
const MOST_SPELLINGS = 4;
const LONGEST_SPELLING = 100;

/** Compresses bytes that are sent again, such as a kept response, once for each spelling of what clients accept. */
function keepCompressed(app: App): void {
  const known = new WeakMap<Buffer, Map<string, Coded>>();
  app.decorateReply("compressing", undefined);
  // Before the plugin, which leaves alone what has a coding.
  app.addHook("onSend", ({ headers }, reply, payload, done) => {
    const accepted = headers["accept-encoding"];
    if (accepted === undefined || !Buffer.isBuffer(payload) || headers["x-no-compression"] !== undefined) return done();
    const found = known.get(payload)?.get(accepted);
    if (found === undefined) reply.compressing = { plain: payload, accepted };
    else reply.header("content-encoding", found.coding);
    done(null, found?.bytes ?? payload);
  });
  // After it: it has added its hook to each route.
  app.addHook("onRoute", (route) => {
    route.onSend = [route.onSend ?? []].flat().concat((_request, reply, payload, done) => {
      const coding = reply.getHeader("content-encoding");
      const { compressing } = reply;
      if (compressing !== undefined && typeof coding === "string" && Buffer.isBuffer(payload)) {
        const coded = known.get(compressing.plain) ?? new Map<string, Coded>();
        remember(coded, compressing.accepted, { coding, bytes: payload });
        known.set(compressing.plain, coded);
      }
      done(null, payload);
    });
  });
}

function remember(known: Map<string, Coded>, accepted: string, { coding, bytes }: Coded): void {
  if (known.size >= MOST_SPELLINGS || accepted.length > LONGEST_SPELLING) return;
  const same = [...known.values()].find((one) => one.coding === coding);
  // zlib's result is the beginning of a whole chunk of 16 KiB.
  known.set(accepted, same ?? { coding, bytes: ownBytes(bytes) });
}
