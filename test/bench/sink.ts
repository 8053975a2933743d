/** A receiver in a process of its own, so that it costs the senders' thread nothing; webhooks.ts talks to it. */
import { createServer } from "node:http";

let left = Number.POSITIVE_INFINITY;

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.end("ok");
    left -= 1;
    if (left === 0) process.send?.("done");
  });
});

// The parent sends how many to wait for.
process.on("message", (count) => {
  left = Number(count);
});
process.on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.(address.port);
});
