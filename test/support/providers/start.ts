import type { PlayedEsim, SimulatedProvider } from "../../../src/daemon/simulators/provider.ts";
import { serveSimulator } from "../../../src/daemon/simulators/serve.ts";
import type { Steered } from "../../../src/daemon/simulators/steering.ts";
import { type Owner, thisTest } from "../owner.ts";

/** What a simulated provider answers of itself. */
export interface ProviderCounts {
  calls: number;
  bought: number;
  balance: string;
  by: Record<"order" | "topup" | "cancel" | "query" | "other", number>;
  steered: Steered[];
}

/** A simulated provider on loopback, and how a test steers it. */
export interface StartedProvider {
  /** With the base path, as `suppliers set --url` takes it. */
  url: string;
  secret: string;
  /** The next `count` calls end like this. */
  steer(one: Pick<Steered, "on" | "outcome"> & Partial<Steered>): Promise<void>;
  /** Plays a phone; the status of each notice that was sent. */
  phone(played: PlayedEsim & { repeat?: boolean }): Promise<(number | null)[]>;
  counts(): Promise<ProviderCounts>;
  close(): Promise<void>;
}

/** Serves `provider` in this very process; it ends with its owner. Its clock is the machine's unless one is given. */
export async function startProvider(
  provider: SimulatedProvider,
  { now = Date.now, owner = thisTest }: { now?: () => number; owner?: Owner } = {},
): Promise<StartedProvider> {
  const { url, close } = await serveSimulator(provider, { port: 0, now });
  owner(close);
  const control = async (path: string, body?: unknown) => {
    const how = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${url}/_simulate${path}`, how);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    url,
    secret: provider.secret,
    close,
    async steer(one) {
      await control("", one);
    },
    async phone(played) {
      const { sent } = await control("/phone", played);
      return sent.map(({ status }: { status: number | null }) => status);
    },
    counts: () => control(""),
  };
}
