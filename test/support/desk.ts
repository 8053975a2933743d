import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Caller, Platform } from "./platform.ts";
import { temporaryDirectory } from "./store.ts";
import { esimctl } from "./warm.ts";

/** A line of the terminal, split at blanks outside double quotes. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** The message of a failed command. */
export interface Refusal {
  exitCode: number;
  code: string;
  message: string;
  hint: string;
}

/** The terminal on a platform's own database, of either engine, or at its server. */
export function deskOf({ location, masterKey, url }: Pick<Platform, "location" | "masterKey" | "url">) {
  const folder = "file" in location ? dirname(location.file) : temporaryDirectory();
  const keyFile = join(folder, "esimctl.key");
  writeFileSync(keyFile, `esimctl-key-v1:${masterKey.toString("base64url")}\n`, { mode: 0o600 });
  const here = "file" in location ? ["--data", folder] : ["--database", location.url, "--key-file", keyFile];
  const home = temporaryDirectory();
  return {
    /** On the operator's host. */
    ...terminal(here, home),
    /** Elsewhere, with a partner's credential. */
    at: ({ clientId, clientSecret }: Caller) =>
      terminal(["--server", url, "--client-id", clientId, "--client-secret", clientSecret], home),
  };
}

function terminal(place: string[], home: string) {
  const run = (line: string) => esimctl([...wordsOf(line), ...place], { cwd: home, env: { XDG_CONFIG_HOME: home } });
  return {
    run,
    // biome-ignore lint/suspicious/noExplicitAny: documents are looked into member by member
    async json(line: string): Promise<any> {
      const { exitCode, stdout, stderr } = await run(`${line} --json`);
      if (exitCode !== 0) throw new Error(`${line}: exit ${exitCode}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    async refusal(line: string): Promise<Refusal> {
      const { exitCode, stdout } = await run(`${line} --json`);
      return { exitCode, ...JSON.parse(stdout).error };
    },
  };
}
