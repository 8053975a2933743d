import { execFileSync } from "node:child_process";

/** Builds the terminal once, so that tests run it as its users do. */
export default function setup(): void {
  execFileSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" });
}
