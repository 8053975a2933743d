import type { EsimReportOf } from "../../../core/supply/provider.ts";

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
