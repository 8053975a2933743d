import { existsSync } from "node:fs";
import type { Clock } from "../kernel/clock.ts";
import { type Existing, openForReading } from "../store/engines/reading.ts";
import { readMasterKey } from "../store/key-files.ts";
import { checkLedger, checkStock } from "./data-checks.ts";
import { checkDatabase } from "./database-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { type Finding, findings, fine, isSound } from "./finding.ts";
import { checkClock, checkDirectory, checkDiskSpace, checkKeyFile } from "./machine-checks.ts";
import { checkSealed } from "./sealed-check.ts";
import { checkTransport } from "./transport-check.ts";
import { checkWork } from "./work-checks.ts";

/** The installation to check. */
export interface Installation {
  where: Existing;
  keyFile: string;
  /** The data directory; null for a database server, whose disk is not ours to see. */
  directory: string | null;
  clock: Clock;
}

/**
 * Runs the checks of an installation, served or not, and changes nothing. Checks that cannot be made because an
 * earlier one failed are left out.
 */
export async function runChecks(installation: Installation): Promise<Finding[]> {
  const { where, keyFile, directory } = installation;
  const key = await findings("key_file", async () => [checkKeyFile(keyFile)]);
  const there = directory !== null && existsSync(directory);
  const disk = there ? [...checkDirectory(directory), await checkDiskSpace(directory)] : [];
  const { found: database, current } = await checkDatabase(where);
  const data = isSound(database) ? await findings("data", () => checkData(installation, current)) : [];
  // What the key file cannot be read for is said once.
  const news = data.filter(({ message }) => key.every((one) => one.message !== message));
  return [...database, ...key, ...news, ...disk];
}

async function checkData({ where, keyFile, clock }: Installation, current: boolean): Promise<Finding[]> {
  const reading = await openForReading(where, { clock });
  try {
    const keys = await findings("data_keys", async () => {
      await reading.openKeys(readMasterKey(keyFile));
      return [fine("data_keys", "The key file opens the data keys.")];
    });
    return [
      ...keys,
      await reading.read(checkLedger, null),
      // A schema of an earlier version has no chains.
      ...(current ? [await reading.read(checkEvidence, { keyed: isSound(keys) })] : []),
      await reading.read(checkStock, null),
      ...(isSound(keys) ? [await reading.read(checkSealed, null)] : []),
      ...(await reading.read(checkWork, null)),
      ...(await reading.read(checkTransport, null)),
      await reading.read(checkClock, null),
    ];
  } finally {
    await reading.close();
  }
}
