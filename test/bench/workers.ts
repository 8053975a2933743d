import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, compare, type Measured, type Side } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { type Installation, install, type Served, serveInstallation } from "./installation.ts";
import { orderLoad } from "./order-creation.ts";

const CONNECTIONS = 32;

/** `serve --workers 2` against `serve`, which answers HTTP in the one process that does everything else too. */
export const workers: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-workers-"));
  const served: Served[] = [];
  try {
    const sides: Record<string, Side>[] = [];
    for (const count of [2, 1]) {
      const installed = await install(join(folder, `${count}`), { orders: 40, stock: 0 });
      const running = await serveInstallation(installed, ["--workers", `${count}`]);
      served.push(running);
      sides.push(sidesOf(installed, running));
    }
    const [two = {}, one = {}] = sides;
    const lines: Measured[] = [];
    for (const [what, ours] of Object.entries(two)) {
      const bare = one[what] ?? ours;
      lines.push(await compare(scale, { what: `${what}, serve --workers 2`, peer: "serve", ours, bare }));
    }
    return lines;
  } finally {
    await Promise.all(served.map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
};

function sidesOf(installed: Installation, { url, token }: Served): Record<string, Side> {
  const headers = { authorization: `Bearer ${token}` };
  const get =
    (path: string): Side =>
    (amount) =>
      httpLoad({ url: `${url}${path}`, connections: CONNECTIONS, amount, headers });
  return {
    "GET /products": get("/api/v1/products"),
    "GET /orders?limit=20": get("/api/v1/orders?limit=20"),
    "POST /orders": (amount) => httpLoad({ ...orderLoad(installed, url, token), amount }),
  };
}
