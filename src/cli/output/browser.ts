import { spawn } from "node:child_process";
import { once } from "node:events";
import { CliError } from "../kernel/errors.ts";

/** The programs that open an address in the browser of a person's desktop. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a page in the browser that BROWSER names, else in that of the desktop; returns once it is started. Throws
 * `no_browser`, which names the address.
 */
export async function openInBrowser(url: string): Promise<void> {
  const named = (process.env.BROWSER ?? "").split(" ").filter((word) => word !== "");
  const [program = "xdg-open", ...args] = named.length > 0 ? named : (openers[process.platform] ?? []);
  // Apart from this process and its terminal: it stays when the command ends.
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  try {
    await once(child, "spawn");
  } catch (error) {
    const hint = "Open it by hand, or set BROWSER to a program that does.";
    throw new CliError("no_browser", `${program} cannot be started, so that ${url} is not open.`, hint, 1, error);
  }
  child.unref();
}
