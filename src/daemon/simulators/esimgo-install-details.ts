import { type EsimgoEsim, SMDP_ADDRESS } from "./esimgo-account.ts";
import { type EsimgoCall, EsimgoRefusal, isShown } from "./esimgo-call.ts";
import { installRow } from "./esimgo-esims.ts";
import type { ProviderAnswer } from "./provider.ts";

/** GET /esims/assignments: what installs the eSIMs of an order or an apply, as CSV unless JSON is asked for. */
export function showInstallDetails(call: EsimgoCall): ProviderAnswer {
  const { headers, query } = call.request;
  const accept = headers.accept ?? "";
  const references = query.getAll("reference");
  if (references.length === 0) throw new EsimgoRefusal(400, "reference is needed");
  const esims = references.flatMap((reference) => esimsOf(call, reference));
  if (esims.some((esim) => esim.deactivated)) throw new EsimgoRefusal(410, "The eSIM is deactivated");
  if (accept.includes("application/json")) {
    const rows = esims.map((esim) => detailsRow(esim, call));
    // One eSIM is no list.
    return { status: 200, body: rows.length === 1 ? rows[0] : rows };
  }
  if (accept.includes("application/zip")) {
    throw new EsimgoRefusal(400, "Pictures of QR codes are not simulated: ask for application/json or text/csv");
  }
  return { status: 200, headers: { "content-type": "text/csv" }, body: csvOf(esims) };
}

function esimsOf(call: EsimgoCall, reference: string): EsimgoEsim[] {
  const esims = call.account.references.get(reference) ?? [];
  if (esims.length === 0) throw new EsimgoRefusal(400, `There are no eSIMs of ${reference}`);
  if (!esims.every((esim) => isShown(esim, call))) throw new EsimgoRefusal(503, "Processing - please come back later");
  return esims;
}

function detailsRow(esim: EsimgoEsim, call: EsimgoCall) {
  const { firstInstalledAt } = esim;
  const installed =
    firstInstalledAt === null ? {} : { firstInstalledDateTime: new Date(firstInstalledAt).toISOString() };
  return { ...installRow(esim, call), ...installed };
}

/** No field of it can have a quote. */
function csvOf(esims: EsimgoEsim[]): string {
  const rows = esims.map(({ iccid, matchingId, assignments }) => {
    return [iccid, matchingId, SMDP_ADDRESS, assignments[0]?.bundle.name ?? ""];
  });
  const head = ["ICCID", "Matching ID", "RSP URL", "Bundle"];
  return [head, ...rows].map((row) => `${row.map((field) => `"${field}"`).join(",")}\n`).join("");
}
