/** What a log says once the daemon answers: one JSON line. */
export function listeningLine({ url, publicUrl }: { url: string; publicUrl: string }): string {
  const said = { event: "listening", url, public_url: publicUrl, msg: `listening on ${url}` };
  return `${JSON.stringify({ level: "info", time: new Date().toISOString(), ...said })}\n`;
}
