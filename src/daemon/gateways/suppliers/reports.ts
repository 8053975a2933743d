import type { EsimRef, EsimReportOf } from "../../../core/supply/provider.ts";
import { mapped, type Reply, usable } from "./reply.ts";

/** What is shown of an eSIM: the rest of its report is not. */
export type Shown = Pick<EsimReportOf, "status"> & Partial<Omit<EsimReportOf, keyof EsimRef | "at">>;

/** A report of an eSIM of which nothing is shown. */
export const nothingShown = {
  ...{ install: null, usedMb: null, totalMb: null, activatedAt: null, expiresAt: null, country: null, network: null },
};

/** What the words of a profile's states come to, of which providers spell some otherwise. */
const installs: Readonly<Record<string, EsimReportOf["install"]>> = {
  released: "not_downloaded",
  confirmed: "not_downloaded",
  download: "downloaded",
  downloaded: "downloaded",
  installation: "installed",
  installed: "installed",
  enabled: "enabled",
  disabled: "disabled",
  deleted: "deleted",
};

/** Whether a phone has an eSIM, by the state of its profile; null: it does not show. */
export function installOf(state: string | null | undefined): EsimReportOf["install"] {
  return installs[state?.toLowerCase() ?? ""] ?? null;
}

/**
 * What a provider shows of eSIMs that it is asked for one by one, and nothing of those of which it has none (null), or
 * gave no usable answer. Throws `supplier_unreachable` when none got one.
 */
export async function lookAtEach(
  { provider, now }: { provider: string; now: () => number },
  esims: readonly EsimRef[],
  look: (esim: EsimRef) => Promise<Reply<Shown | null>>,
): Promise<EsimReportOf[]> {
  const looked: Reply<EsimReportOf | null>[] = [];
  for (const esim of esims) {
    const reply = await look(esim);
    looked.push(mapped(reply, (shown) => shown && { ...nothingShown, ...shown, ...esim, at: now() }));
  }
  const answered = looked.filter(({ kind }) => kind === "done");
  return (answered.length > 0 ? answered : looked).flatMap((one) => usable(provider, one) ?? []);
}
