import { readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Where the kernel lists the open files of a process. */
const DESCRIPTORS = /^(\/dev|\/proc\/[^/]+(\/task\/\d+)?)\/fd$/;
/** The only folder whose links are followed to a file descriptor: no other user can put one there. */
const DEVICES = "/dev";

/** Whether a path is read or written as a stream: a device, a pipe, a socket, or a link to a file descriptor. */
export async function isStream(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return (found !== null && !found.isFile() && !found.isDirectory()) || isDescriptor(path);
}

/** Whether a path names a file descriptor, as /dev/stdout and /dev/fd/63 do, whatever is behind it. */
export async function isDescriptor(path: string): Promise<boolean> {
  for (let at = resolve(path); ; ) {
    const folder = await realpath(dirname(at)).catch(() => null);
    if (folder === null) return false;
    if (DESCRIPTORS.test(folder)) return true;
    const link = folder === DEVICES ? await readlink(join(folder, basename(at))).catch(() => null) : null;
    if (link === null) return false;
    at = resolve(folder, link);
  }
}
