import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { program } from "../support/process.ts";
import { type Bench, type Measured, measuredOf, type Scale } from "./bench.ts";
import { cpuOf, residentMb, serveWithLog } from "./installation.ts";
import { type MixData, type MixPartner, mixData } from "./mix-data.ts";

/** What `mix-load.ts` sends. */
export interface MixLoad {
  url: string;
  tokens: string[];
  productIds: string[];
  amount: number;
  connections: number;
  seed: number;
}

/** What it prints. */
export interface MixSent {
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

const CONNECTIONS = 48;
const PARTNERS = 40;
/** A quarter of the partners has a webhook. */
const WITHOUT_WEBHOOK = 4;
/** Orders of the past for each request of a round. */
const PAST = 10;
/** eSIMs in stock for each request of a round: more than its orders take. */
const STOCK = 1.5;

/**
 * The realistic mix, from `serve` as its users start it, against the build before: `BENCH_BEFORE=/path/to/checkout`
 * names its built checkout; left out, the same build is its own peer, which shows how much pairs scatter. Each round
 * loads one, then the other: the processor time of all threads a request, p50, p99, and the memory at the end.
 */
export const mix: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-mix-"));
  const receiver = await startReceiver(folder);
  try {
    const before = process.env.BENCH_BEFORE;
    const earlier = before === undefined ? program : join(before, "bin", "esimctl");
    const stock = Math.ceil((scale.rounds + 1) * scale.items * STOCK);
    // A partner is four commands of the program: of a tiny mix they would be most of it.
    const partners = Math.min(PARTNERS, Math.ceil(scale.items / 10));
    const data = mixData(earlier, folder, { partners, orders: scale.items * PAST, stock });
    const sides = [
      await serveMix(program, data, { folder: join(folder, "ours"), receiver }),
      await serveMix(earlier, data, { folder: join(folder, "bare"), receiver }),
    ] as const;
    try {
      return await measure(scale, sides, data.productIds);
    } finally {
      await Promise.all(sides.map((side) => side.stop()));
    }
  } finally {
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

type MixSide = Awaited<ReturnType<typeof serveMix>>;

interface MixRound {
  cpu: number;
  p50: number;
  p99: number;
  memory: number;
}

async function measure({ rounds, items, warmUp }: Scale, sides: readonly [MixSide, MixSide], productIds: string[]) {
  let seed = 1;
  const roundOf = async (side: MixSide, amount: number): Promise<MixRound> => {
    const before = side.cpu();
    const load: MixLoad = { ...side, productIds, amount, connections: Math.min(CONNECTIONS, amount), seed: seed++ };
    const sent = await sendMix(side.folder, load);
    return {
      cpu: (side.cpu() - before) / amount,
      p50: sent.p50Ms,
      p99: sent.p99Ms,
      memory: await side.memory(),
    };
  };
  const [ours, bare] = sides;
  if (warmUp > 0) for (const side of sides) await roundOf(side, Math.ceil(items * warmUp));
  const pairs: { ours: MixRound; bare: MixRound }[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) pairs.push({ ours: await roundOf(ours, items), bare: await roundOf(bare, items) });
    else {
      const first = await roundOf(bare, items);
      pairs.push({ ours: await roundOf(ours, items), bare: first });
    }
  }
  const peer = process.env.BENCH_BEFORE === undefined ? "the same build" : "the build before";
  const line = (what: string, unit: string, of: (round: MixRound) => number): Measured => ({
    ...measuredOf(
      { what, peer },
      pairs.map((pair) => ({ ours: of(pair.ours), bare: of(pair.bare) })),
    ),
    unit,
  });
  return [
    line("mix: processor time a request", "µs", ({ cpu }) => cpu),
    line("mix: p50", "ms", ({ p50 }) => p50),
    line("mix: p99", "ms", ({ p99 }) => p99),
    line("mix: memory of serve", "MB", ({ memory }) => memory),
  ];
}

async function sendMix(folder: string, load: MixLoad): Promise<MixSent> {
  const file = join(folder, "load.json");
  writeFileSync(file, JSON.stringify(load));
  const { stdout } = await execa(process.execPath, [join(import.meta.dirname, "mix-load.ts"), file]);
  // It prints this.
  return JSON.parse(stdout) as MixSent;
}

/** Serves a copy of the data by a build, with a webhook for a quarter of the partners. */
async function serveMix(
  build: string,
  data: MixData,
  { folder, receiver }: { folder: string; receiver: { url: string; certificate: string } },
) {
  mkdirSync(folder);
  const copy = data.copy(join(folder, "data"));
  const args = [build, "serve", "--data", copy, "--port", "0", "--json", "--allow-private-webhooks"];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: receiver.certificate };
  const { child, url } = await serveWithLog(args, join(folder, "log"), env);
  const tokens = await Promise.all(data.partners.map((partner) => tokenFor(url, partner)));
  for (const token of tokens.filter((_, at) => at % WITHOUT_WEBHOOK === 0)) await subscribe(url, token, receiver.url);
  const cpu = cpuOf(child.pid ?? 0);
  if (cpu === undefined) throw new Error("this system does not say how much processor time a process took");
  return {
    url,
    tokens,
    folder,
    cpu,
    memory: () => residentMb(child.pid ?? 0),
    async stop() {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function tokenFor(url: string, { clientId, clientSecret }: MixPartner): Promise<string> {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId });
  form.set("client_secret", clientSecret);
  const response = await fetch(`${url}/api/v1/oauth/token`, { method: "POST", body: form });
  // Contract: Token.
  return ((await response.json()) as { access_token: string }).access_token;
}

async function subscribe(url: string, token: string, receiver: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ url: receiver, events: ["order.created", "order.fulfilled"] }),
  });
  if (response.status !== 201) throw new Error(`a webhook was answered with ${response.status}`);
}

/** A receiver on loopback, by TLS as production wants it. */
async function startReceiver(folder: string) {
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const what = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", [...what, ...names, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/hooks`,
    certificate,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
