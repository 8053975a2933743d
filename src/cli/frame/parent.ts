import { Socket } from "node:net";

/**
 * Under an older Node the launcher starts this process as its child and holds one end of a pipe (its number is in
 * ESIMCTL_PARENT_FD). When that end closes, the launcher has ended, for whatever reason, and this process stops as on
 * SIGTERM.
 */
export async function endWithParent(): Promise<void> {
  const fd = Number(process.env.ESIMCTL_PARENT_FD);
  // Not inherited: the descriptor is not open in child processes.
  delete process.env.ESIMCTL_PARENT_FD;
  const pipe = new Socket({ fd, readable: true, writable: false });
  pipe.on("error", () => undefined);
  pipe.on("close", () => process.kill(process.pid, "SIGTERM"));
  pipe.resume();
  pipe.unref();
}
