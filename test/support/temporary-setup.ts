import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Files in memory, as Linux has them for every process. */
const MEMORY = "/dev/shm";
/** As it is before the setup changes it. */
const USUAL = tmpdir();
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
  // The program takes paths below /dev for streams.
  const link = linkTo(directory);
  symlinkSync(directory, link);
  const remove = () => removeBoth(directory);
  // Tests run programs as other users from below it.
  chmodSync(directory, 0o711);
  if (!runsPrograms(directory)) {
    remove();
    return undefined;
  }
  process.env.TMPDIR = link;
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

function linkTo(directory: string): string {
  return join(USUAL, basename(directory));
}

function removeBoth(directory: string): void {
  rmSync(linkTo(directory), { force: true });
  rmSync(directory, { recursive: true, force: true });
}

function removeLeft(): void {
  for (const name of readdirSync(MEMORY)) {
    const path = join(MEMORY, name);
    const changed = name.startsWith(PREFIX) ? statSync(path, { throwIfNoEntry: false })?.mtimeMs : undefined;
    if (changed !== undefined && Date.now() - changed > LEFT_MS) removeBoth(path);
  }
}

/** Some machines refuse to run a program from there, and tests write some. */
function runsPrograms(directory: string): boolean {
  const script = join(directory, "true");
  writeFileSync(script, "#!/bin/sh\n", { mode: 0o700 });
  return spawnSync(script).status === 0;
}
