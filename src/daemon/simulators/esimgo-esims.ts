import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { type EsimgoEsim, SMDP_ADDRESS } from "./esimgo-account.ts";
import { checkedBody, choice, type EsimgoCall, EsimgoRefusal, isShown, pageOf, wholeNumber } from "./esimgo-call.ts";
import { networksOf } from "./esimgo-networks.ts";
import type { ProviderAnswer } from "./provider.ts";

const Update = Type.Object({ iccid: Type.String(), customerRef: Type.String() }, { additionalProperties: false });
const update = Compile(Update);
const Suspend = Type.Object({ suspend: Type.Boolean() }, { additionalProperties: false });
const suspend = Compile(Suspend);

const sizes = [10, 25, 50, 100];
const columns = ["iccid", "customerRef", "lastAction", "actionDate", "assignedDate"] as const;

/** An eSIM of the account, the one that the path names if none is. Throws a refusal: 400, or 503 before it is shown. */
export function knownEsim(call: EsimgoCall, iccid = call.names[0] ?? ""): EsimgoEsim {
  const esim = call.account.esims.get(iccid);
  if (esim === undefined) throw new EsimgoRefusal(400, `There is no eSIM ${iccid}`);
  if (!isShown(esim, call)) throw new EsimgoRefusal(503, "Processing - please come back later");
  return esim;
}

/** GET /esims. */
export function listEsims(call: EsimgoCall): ProviderAnswer {
  const { query } = call.request;
  const page = wholeNumber(call, "page", { usual: 1, most: 1_000_000 });
  const size = wholeNumber(call, "perPage", { usual: 10, most: 100 });
  if (!sizes.includes(size)) throw new EsimgoRefusal(400, "perPage must be 10, 25, 50 or 100");
  choice(call, "orderBy", ["iccid"]);
  const sign = choice(call, "direction", ["asc", "desc"]) === "asc" ? 1 : -1;
  const column = query.has("filterBy") ? choice(call, "filterBy", columns) : null;
  const wanted = query.get("filter") ?? "";
  const rows = [...call.account.esims.values()]
    .filter((esim) => isShown(esim, call))
    .map(listRow)
    .filter((row) => column === null || isLike(row[column], wanted, column))
    .sort((a, b) => sign * (a.iccid < b.iccid ? -1 : 1));
  const { page: esims, counts } = pageOf(rows, page, size);
  return { status: 200, body: { esims, ...counts } };
}

/** GET /esims/{iccid}. */
export function showEsim(call: EsimgoCall): ProviderAnswer {
  const esim = knownEsim(call);
  const { firstInstalledAt } = esim;
  const body = {
    ...installRow(esim, call),
    ...(firstInstalledAt === null ? {} : { firstInstalledDateTime: firstInstalledAt }),
    customerRef: esim.customerRef,
    brandingId: "(default)",
    profileName: esim.profileName,
    state: stateOf(esim),
  };
  return { status: 200, body };
}

/** What installs an eSIM, in the words of bodies. */
function installRow({ iccid, matchingId, profileStatus, pin, puk }: EsimgoEsim, { request }: EsimgoCall) {
  const lpa = `LPA:1$${SMDP_ADDRESS}$${matchingId}`;
  const links = {
    appleInstallUrl: `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${lpa}`,
    androidInstallUrl: `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${lpa}`,
  };
  const asked = request.query.get("additionalFields")?.split(",").includes("installUrl") ?? false;
  return { iccid, matchingId, smdpAddress: SMDP_ADDRESS, profileStatus, pin, puk, ...(asked ? links : {}) };
}

/** PUT /esims: a reference of the account's own on an eSIM. */
export function updateEsim(call: EsimgoCall): ProviderAnswer {
  const { iccid, customerRef } = checkedBody(call, update);
  const esim = knownEsim(call, iccid);
  esim.customerRef = customerRef;
  esim.history.push({ name: "eSIM Updated", at: call.request.now });
  return { status: 200, body: { status: "success" } };
}

/** DELETE /esims/{iccid}: gives nothing back. */
export function deactivateEsim(call: EsimgoCall): ProviderAnswer {
  const esim = knownEsim(call);
  esim.deactivated = true;
  for (const one of esim.assignments) one.gone ??= "revoked";
  return { status: 200, body: { status: "success" } };
}

/** GET /esims/{iccid}/history. */
export function listHistory(call: EsimgoCall): ProviderAnswer {
  const rows = knownEsim(call).history.map(({ at, ...row }) => ({ ...row, date: new Date(at).toISOString() }));
  return { status: 200, body: rows };
}

/** GET /esims/{iccid}/location: where it was attached last. */
export function showLocation(call: EsimgoCall): ProviderAnswer {
  const { attachedAt, assignments } = knownEsim(call);
  const place = assignments.flatMap(({ bundle }) => [...bundle.roaming, ...bundle.countries])[0];
  if (attachedAt === null || place === undefined) throw new EsimgoRefusal(400, "The eSIM has not been on a network");
  const [network] = networksOf(place.iso);
  const body = {
    mobileNetworkCode: network?.tagid ?? "",
    networkName: network?.name ?? "",
    networkBrandName: network?.brandName ?? "",
    country: place.iso,
    lastSeen: new Date(attachedAt).toISOString(),
  };
  return { status: 200, body };
}

/** GET /esims/{iccid}/suspend. */
export function showSuspension(call: EsimgoCall): ProviderAnswer {
  return { status: 200, body: { suspended: knownEsim(call).suspended !== null } };
}

/** POST /esims/{iccid}/suspend: on and off; what policy suspended stays so. */
export function suspendEsim(call: EsimgoCall): ProviderAnswer {
  const wanted = checkedBody(call, suspend).suspend;
  const esim = knownEsim(call);
  if (esim.deactivated) throw new EsimgoRefusal(400, "The eSIM is deactivated");
  if (esim.suspended === "policy" && !wanted) throw new EsimgoRefusal(400, "The eSIM is suspended by policy");
  if (esim.suspended !== "policy") esim.suspended = wanted ? "api" : null;
  return { status: 201, body: { status: wanted ? "suspended" : "active" } };
}

function stateOf({ deactivated, suspended }: EsimgoEsim): string {
  if (deactivated) return "deactivated";
  return suspended === null ? "active" : "suspended";
}

function listRow(esim: EsimgoEsim) {
  const last = esim.history.at(-1);
  return {
    iccid: esim.iccid,
    customerRef: esim.customerRef,
    lastAction: last?.name ?? "",
    actionDate: new Date(last?.at ?? esim.at).toISOString(),
    physical: false,
    assignedDate: new Date(esim.at).toISOString(),
    state: stateOf(esim),
  };
}

/** Days and times are compared by their beginning, all else as a whole. */
function isLike(value: string, wanted: string, column: (typeof columns)[number]): boolean {
  return column.endsWith("Date") ? value.startsWith(wanted) : value === wanted;
}

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
