import { existsSync } from "node:fs";
import type { Clock } from "../kernel/clock.ts";
import { isServed } from "../platform/data-directory.ts";
import { type Existing, openForReading, type Reading } from "../store/open/reading.ts";
import { findMasterKey, type KeySources, parseMasterKey, presentKeys } from "../store/sealing/key-files.ts";
import { checkBalances, checkCredits, checkLedger, checkOrders, checkStock } from "./data-checks.ts";
import { checkDatabase } from "./database-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { type Finding, fault, findings, fine, isSound } from "./finding.ts";
import { checkDirectory, checkDiskSpace, checkMasterKey } from "./machine-checks.ts";
import { checkSealed } from "./sealed-check.ts";
import { checkState } from "./state-checks.ts";

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
      await reading.read(checkCredits, null),
      await reading.read(checkBalances, null),
      ...(await checkState(reading, { isLocked: directory === null || isServed(directory), clock })),
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
