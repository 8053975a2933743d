import pg from "pg";

/** What a client sends by, typed by the driver as any stream: a socket, with TLS or without. Null: no client of its. */
export function streamOf(client: pg.ClientBase) {
  return client instanceof pg.Client ? client.connection.stream : null;
}
