import { existsSync } from "node:fs";
import { carrierRows } from "../carriers/carrier.ts";
import type { Clock } from "../kernel/clock.ts";
import { isCleartext } from "../kernel/http-url.ts";
import { isServed } from "../platform/data-directory.ts";
import { readSetting } from "../platform/settings.ts";
import { type Existing, openForReading, type Reading } from "../store/open/reading.ts";
import { findMasterKey, type KeySources, parseMasterKey, presentKeys } from "../store/sealing/key-files.ts";
import type { Read } from "../store/store.ts";
import { listSuppliers } from "../suppliers/supplier.ts";
import { checkBalances, checkCredits, checkLedger, checkOrders, checkStock } from "./data-checks.ts";
import { checkDatabase } from "./database-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { type Finding, fault, findings, fine, isSound, warning } from "./finding.ts";
import { checkClock, checkDirectory, checkDiskSpace, checkMasterKey } from "./machine-checks.ts";
import { checkNodeClocks, checkOutages, checkPauses, checkReplicas, checkServing } from "./running-checks.ts";
import { checkSealed } from "./sealed-check.ts";
import { checkServer } from "./server-checks.ts";
import { checkWork } from "./work-checks.ts";

/** The installation to check. */
export interface Installation {
  where: Existing;
  keys: KeySources;
  /** The data directory; null for a database server, whose disk is not ours to see. */
  directory: string | null;
  clock: Clock;
}

/**
 * Runs the checks of an installation, served or not, and changes nothing. Checks that cannot be made because an
 * earlier one failed are left out.
 */
export async function runChecks(installation: Installation): Promise<Finding[]> {
  const { where, keys, directory } = installation;
  const key = await findings("key_file", async () => checkMasterKey(keys));
  const there = directory !== null && existsSync(directory);
  const disk = there ? [...checkDirectory(directory), await checkDiskSpace(directory)] : [];
  const { found: database, current } = await checkDatabase(where);
  const data = isSound(database) ? await findings("data", () => checkData(installation, current)) : [];
  // What the key file cannot be read for is said once.
  const news = data.filter(({ message }) => key.every((one) => one.message !== message));
  return [...database, ...key, ...news, ...disk];
}

async function checkData(
  { where, keys: sources, directory, clock }: Installation,
  current: boolean,
): Promise<Finding[]> {
  const reading = await openForReading(where, { clock });
  try {
    const keys = await findings("data_keys", () => checkDataKeys(reading, sources));
    // The other checks read what a schema of an earlier version does not have.
    if (!current) return keys;
    return [
      ...keys,
      await reading.read(checkLedger, null),
      await reading.read(checkOrders, null),
      await reading.read(checkEvidence, { keyed: isSound(keys) }),
      await reading.read(checkStock, null),
      ...(isSound(keys) ? [await reading.read(checkSealed, null)] : []),
      ...(await reading.read(checkWork, null)),
      ...(await reading.read(checkOutages, null)),
      ...(await reading.read(checkPauses, null)),
      await reading.read(checkCredits, null),
      await reading.read(checkBalances, null),
      ...(await checkServer(reading, clock)),
      await reading.read(checkServing, { isLocked: directory === null || isServed(directory) }),
      ...(await reading.read(checkNodeClocks, null)),
      ...(await reading.read(checkReplicas, null)),
      ...(await reading.read(checkTransport, null)),
      await reading.read(checkClock, null),
    ];
  } finally {
    await reading.close();
  }
}

/** Whether the master key opens the data keys; where several differ, which one does. Throws `StoreError`. */
async function checkDataKeys(reading: Reading, sources: KeySources): Promise<Finding[]> {
  const present = presentKeys(sources).map((one) => ({ ...one, key: parseMasterKey(one.text, one.name) }));
  if (present.every(({ key }) => key.equals(present[0]?.key ?? key))) {
    await reading.openKeys(findMasterKey(sources).key);
    return [fine("data_keys", "The master key opens the data keys.")];
  }
  const found: Finding[] = [];
  for (const { key, name } of present) {
    const opens = await reading.openKeys(key).then(
      () => true,
      () => false,
    );
    if (opens) found.push(fine("data_keys", `${name} opens the data keys.`));
    else found.push(fault("data_keys", `${name} does not open the data keys.`, "Leave it out, or remove it."));
  }
  return found;
}

interface Reached {
  what: string;
  url: string | null;
  insecure: boolean;
  command: string;
}

/** Where identity data and tokens would travel without TLS: carriers, suppliers, and how the platform is served. */
async function checkTransport(q: Read): Promise<Finding[]> {
  const found = [
    ...(await parties(q)).flatMap(ofParty),
    ...((await readSetting(q, "insecure")) === "yes" ? [servedInsecure] : []),
    ...((await readSetting(q, "cleartext")) === "yes" ? [servedInClear] : []),
  ];
  return found.length > 0 ? found : [fine("transport", "Nothing is sent beyond this machine without TLS.")];
}

async function parties(q: Read): Promise<Reached[]> {
  const carriers = (await carrierRows(q)).filter(({ adapter }) => adapter === "http");
  const suppliers = (await listSuppliers(q, null)).filter(({ adapter }) => adapter === "http");
  return [
    ...carriers.map(({ prefix, url, insecure }) => {
      return { what: `carrier ${prefix}`, url, insecure, command: `carriers set ${prefix}` };
    }),
    ...suppliers.map(({ name, url, insecure }) => {
      return { what: `supplier ${name}`, url, insecure, command: `suppliers set ${name}` };
    }),
  ];
}

function ofParty({ what, url, insecure, command }: Reached): Finding[] {
  if (url === null || !isCleartext(url)) return [];
  if (insecure) {
    return [
      warning("transport", `Requests to the ${what} go without TLS to ${url}.`, `esimctl ${command} --url https://…`),
    ];
  }
  const remedy = `esimctl ${command} --url https://…, or --insecure to allow it.`;
  return [fault("transport", `Nothing is sent to the ${what}: ${url} has no TLS.`, remedy)];
}

const servedInsecure = warning(
  "transport",
  "The platform is served with --insecure: mail and PostgreSQL may go beyond this machine without TLS.",
  "Use smtps:// or STARTTLS, and sslmode=verify-full, and serve without --insecure.",
);

const servedInClear = warning(
  "transport",
  "HTTP is answered beyond this machine, and the public address is not https: secrets and tokens travel in clear.",
  "Listen on 127.0.0.1 behind a proxy that speaks TLS, and name its address: --public-url https://…",
);
