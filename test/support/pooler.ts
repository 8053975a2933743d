import { chownSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { unprivilegedAccount } from "./postgres-server.ts";
import { launchCommand } from "./process.ts";
import { temporaryDirectory } from "./store.ts";

/** Debian's PgBouncer; null where it is not installed. */
export const pgbouncer = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => existsSync(path)) ?? null;

/** Starts a PgBouncer in transaction mode before a database of the suite; it ends with the test. Its address. */
export async function startPooler(url: string): Promise<string> {
  const folder = temporaryDirectory();
  const port = await freePort();
  const { hostname, port: behind, pathname } = new URL(url);
  const [users, settings] = [join(folder, "users.txt"), join(folder, "pgbouncer.ini")];
  writeFileSync(users, '"tests" ""\n');
  const name = pathname.slice(1);
  writeFileSync(
    settings,
    `[databases]
${name} = host=${hostname} port=${behind} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
ignore_startup_parameters = extra_float_digits
`,
  );
  // It refuses to run as root.
  const account = unprivilegedAccount();
  if (account !== null) for (const path of [folder, users, settings]) chownSync(path, account.uid, account.gid);
  const as = account === null ? {} : { uid: account.uid };
  await launchCommand(pgbouncer ?? "pgbouncer", [settings], as).printed("process up", "stderr");
  return `postgres://tests@127.0.0.1:${port}${pathname}`;
}
