import { timingSafeEqual } from "node:crypto";
import type { Ids } from "../kernel/ids.ts";
import { jobThread } from "../kernel/job-thread.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { COST } from "./hash-cost.ts";
import type { HashJob } from "./hash-thread.ts";

/** Least and most characters of a password. */
const LEAST = 12;
const MOST = 256;

const SALT_BYTES = 16;

/** Passwords that wait for the one before, at most: a few seconds of hashing. */
const MOST_WAITING = 64;

/** One password at a time: other cores, and the threads that read files, are left to what answers requests. */
const hashing = jobThread<HashJob, Uint8Array>(import.meta.url, "hash");

async function tagOf(password: string, nonce: Buffer): Promise<Buffer> {
  if (hashing.waiting() > MOST_WAITING) throw new Problem("unavailable", "Too many people sign in at this moment.");
  return Buffer.from(await hashing.run({ message: password.normalize("NFC"), nonce }));
}

const encoded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");

/** A password as it is stored, in PHC format. Runs beside the event loop. Throws `unavailable` where too many wait. */
export async function hashPassword(ids: Ids, password: string): Promise<string> {
  const salt = ids.bytes(SALT_BYTES);
  const tag = await tagOf(password, salt);
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${encoded(salt)}$${encoded(tag)}`;
}

/** No password has this hash. */
const NONE = Buffer.alloc(COST.tagLength);

/** Whether it is the password of this hash; the same time where there is none (null). Throws as `hashPassword`. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, , , , salt, tag] = hash?.split("$") ?? [];
  const found = await tagOf(password.slice(0, MOST), Buffer.from(salt ?? encoded(NONE), "base64"));
  const wanted = tag === undefined ? NONE : Buffer.from(tag, "base64");
  return timingSafeEqual(found, wanted.length === found.length ? wanted : NONE) && hash !== null;
}

/** Refuses a password that is short, or that many people use, also with figures around it. Throws `validation`. */
export async function requirePassword(password: string): Promise<void> {
  const length = [...password].length;
  if (length < LEAST || length > MOST) throw invalid({ password: [`must have ${LEAST} to ${MOST} characters`] });
  const common = await commonPasswords();
  const typed = password.toLowerCase();
  const word = typed.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const repeated = /^(.{1,6})\1+$/u.test(typed);
  if (common.has(typed) || repeated || (word.length < LEAST && (word === "" || common.has(word)))) {
    throw invalid({ password: ["is one that many people use, alone or with digits added: choose another"] });
  }
}

let loading: Promise<ReadonlySet<string>> | undefined;

/** About 49,000 passwords that were found in leaks; loaded when the first password is chosen. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= import("@zxcvbn-ts/language-common").then((loaded) => {
    // The bundled program has the package's older form of module, whose names are under `default`.
    const { dictionary } = "dictionary" in loaded ? loaded : (loaded as { default: typeof loaded }).default;
    return new Set(dictionary["passwords-common"].map((one) => String(one)));
  });
  return loading;
}
