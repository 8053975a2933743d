import { statfs } from "node:fs/promises";
import { keyFileIsExposed, readMasterKey } from "../store/data-directory.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

/** Whether the key file can be read, and by its owner only. Throws `StoreError` when it is missing or none. */
export function checkKeyFile(file: string): Finding {
  readMasterKey(file);
  if (keyFileIsExposed(file)) {
    return fault("key_file", `Others than its owner may read the key file ${file}.`, `chmod 600 ${file}`);
  }
  return fine("key_file", "Only its owner may read the key file.");
}

const MIB = 1024 * 1024;
const LEAST = 256 * MIB;
const LOW = 2048 * MIB;
const LOW_SHARE = 0.05;

/** Whether the file system of `directory` has room left for the database to grow. */
export async function checkDiskSpace(directory: string): Promise<Finding> {
  const { bavail, bsize, blocks } = await statfs(directory);
  return spaceFinding(bavail * bsize, blocks * bsize);
}

/** The finding for so many free bytes of so many. */
export function spaceFinding(free: number, total: number): Finding {
  const words = `${Math.floor(free / MIB)} MiB of ${Math.floor(total / MIB)} MiB are free where the data is.`;
  if (free < LEAST) return fault("disk_space", words, "Free some now: orders are refused once writing fails.");
  const low = free < LOW || free < total * LOW_SHARE;
  return low
    ? warning("disk_space", words, "Free some, or move the data to a larger disk.")
    : fine("disk_space", words);
}
