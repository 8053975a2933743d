import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryDirectory } from "./store.ts";
import { esimctlJson } from "./warm.ts";

/** What a program signs in with. */
export interface Credential {
  client_id: string;
  client_secret: string;
}

/** A data directory as `esimctl init` makes it, removed with the test; `folder` is the directory that it is in. */
export function newData(folder = temporaryDirectory()): Promise<string> {
  return copyOf("empty", folder);
}

/** A data directory as `esimctl init --demo` makes it, and the credentials of its partner `demo`. */
export async function demoData(
  folder = temporaryDirectory(),
): Promise<{ data: string; credentials: (Credential & { environment: string })[] }> {
  const data = await copyOf("demo", folder);
  return { data, ...JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8")) };
}

/** Made once for all tests of this worker: copying a directory takes a tenth of the work of making one. */
const templates = new Map<string, Promise<string>>();
let home: string | null = null;

async function copyOf(kind: "empty" | "demo", folder: string): Promise<string> {
  const template = templates.get(kind) ?? makeTemplate(kind);
  templates.set(kind, template);
  const data = join(folder, "data");
  cpSync(await template, data, { recursive: true });
  // Copying keeps the modes of files, and not those of directories.
  chmodSync(data, 0o700);
  return data;
}

async function makeTemplate(kind: "empty" | "demo"): Promise<string> {
  home ??= temporaryHome();
  const data = join(home, kind);
  await esimctlJson(["init", ...(kind === "demo" ? ["--demo"] : []), "--data", data]);
  return data;
}

function temporaryHome(): string {
  const directory = mkdtempSync(join(tmpdir(), "esimctl-templates-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
