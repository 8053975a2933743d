import type { Context } from "../frame/command.ts";

/** The JSON log line that reports the daemon's address. */
export function listeningLine({ url, publicUrl }: { url: string; publicUrl: string }): string {
  const said = { event: "listening", url, public_url: publicUrl, msg: `listening on ${url}` };
  return `${JSON.stringify({ level: "info", time: new Date().toISOString(), ...said })}\n`;
}

/** Prints that the daemon listens: in words to a person, as one JSON line to a log. */
export function printListening(context: Context, url: string, publicUrl: string): void {
  const json = context.globals.json || process.stdout.isTTY !== true;
  if (!json && context.globals.quiet) return;
  process.stdout.write(json ? listeningLine({ url, publicUrl }) : `esimctl is listening on ${url} (Ctrl-C stops it)\n`);
}
