import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Files in memory, as Linux has them for every process. */
const MEMORY = "/dev/shm";
const PREFIX = "esimctl-suite-";
/** The tests need a tenth of it. A container often has 64 MB there. */
const NEEDED_BYTES = 2 * 1024 ** 3;
/** What a killed run left is removed after this time (ms). No run takes as long. */
const LEFT_MS = 6 * 60 * 60 * 1000;

/**
 * Lets the tests keep their temporary files in memory where there is room for them: each commit of a database waits for
 * the disk, which is a third of a run. What a process wrote survives its end there too; no test takes the power away.
 */
export default function setup(): (() => void) | undefined {
  if (!hasRoom()) return undefined;
  removeLeft();
  const directory = mkdtempSync(join(MEMORY, PREFIX));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  // Tests run programs as other users from below it.
  chmodSync(directory, 0o711);
  if (!runsPrograms(directory)) {
    remove();
    return undefined;
  }
  process.env.TMPDIR = directory;
  return remove;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

function removeLeft(): void {
  for (const name of readdirSync(MEMORY)) {
    const path = join(MEMORY, name);
    const changed = name.startsWith(PREFIX) ? statSync(path, { throwIfNoEntry: false })?.mtimeMs : undefined;
    if (changed !== undefined && Date.now() - changed > LEFT_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Some machines refuse to run a program from there, and tests write some. */
function runsPrograms(directory: string): boolean {
  const script = join(directory, "true");
  writeFileSync(script, "#!/bin/sh\n", { mode: 0o700 });
  return spawnSync(script).status === 0;
}
