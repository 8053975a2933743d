import { argon2Sync } from "node:crypto";
import { platform, setPriority } from "node:os";
import { answerJobs } from "../kernel/answer-jobs.ts";
import { COST } from "./hash-cost.ts";

/** What is to be hashed. */
export interface HashJob {
  message: string;
  nonce: Uint8Array;
}

/** What answers requests comes first. Linux alone has priorities of single threads, and a sandbox may refuse them. */
function giveWay(): void {
  try {
    if (platform() === "linux") setPriority(0, 5);
  } catch {
    // It hashes all the same.
  }
}

giveWay();

answerJobs(({ message, nonce }: HashJob): Uint8Array => argon2Sync("argon2id", { message, nonce, ...COST }));
