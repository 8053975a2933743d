import { startPostgres } from "./postgres-server.ts";

/** Starts a PostgreSQL of the suite's own on loopback and stops it at the end. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startPostgres();
  process.env.ESIMCTL_TEST_POSTGRES = server.url;
  return () => server.remove();
}
