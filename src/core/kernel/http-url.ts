import ipaddr from "ipaddr.js";

/** Whether a host, as a URL or an option names it, is this machine: `localhost` or a loopback address. */
export function isLoopbackHost(host: string): boolean {
  const bare = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  if (bare === "localhost" || bare.endsWith(".localhost")) return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}

/** Whether an http(s) address leads beyond this machine without TLS: everyone on the way reads what is sent there. */
export function isCleartext(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === "http:" && !isLoopbackHost(url.hostname);
}

/** An address that something is sent to, and whether it may be cleartext. */
interface Addressed {
  url: string | null;
  insecure: boolean;
}

/** Whether nothing may be sent to the address: it is cleartext, and that was not allowed. */
export function isRefused({ url, insecure }: Addressed): boolean {
  return url !== null && isCleartext(url) && !insecure;
}

/** Whether `url` may be cleartext after a change: the permission is for one address and not for the next. */
export function allowsCleartext(change: {
  url: string | null;
  before: Addressed | null;
  given: { url?: string | null | undefined; insecure?: boolean | undefined };
}): boolean {
  const { url, before, given } = change;
  if (url === null || !isCleartext(url)) return false;
  return given.insecure ?? (before?.insecure === true && (given.url === undefined || given.url === before.url));
}
