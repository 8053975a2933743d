import { constants } from "node:zlib";
import type {} from "@fastify/compress"; // adds `compress` to routes
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
}
