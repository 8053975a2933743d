import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The open connections of servers. */
export interface Connections {
  /** The server, from whose connections on they are known. */
  of<Some extends Server>(server: Some): Some;
  /**
   * Closes those on which nothing was sent yet. Browsers and proxies open some ahead of their requests, and a server
   * that closes takes one for in use until its first head is overdue, a minute later.
   */
  endUnused(): void;
}

/** Those of no server yet. */
export function createConnections(): Connections {
  const open = new Set<Socket>();
  return {
    of(server) {
      return server.on("connection", (socket: Socket) => {
        open.add(socket);
        socket.once("close", () => open.delete(socket));
      });
    },
    endUnused() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
