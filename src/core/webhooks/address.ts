import ipaddr from "ipaddr.js";

// Answers virtual machines with their credentials, from an address that looks public.
const METADATA = ["168.63.129.16"];
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/;

/**
 * Whether an IP address is on the public internet. Loopback, private, link-local, shared, multicast, reserved and
 * metadata addresses are not, nor is an IPv6 address that wraps an IPv4 one (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  // A zone says which of this machine's networks is meant: never the internet.
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast" || METADATA.includes(parsed.toString())) return false;
  // Of IPv6 only 2000::/3 is given out (RFC 4291; IANA).
  return parsed.kind() === "ipv4" || parsed.match(ipaddr.parseCIDR("2000::/3"));
}

/** The IP address that a URL's host spells, or null when it is a name. */
export function addressOfHost(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(bare) ? bare : null;
}

/**
 * Whether a URL's host, as URL has normalised it (so that decimal, octal and hex spellings are one), is known without
 * asking anybody to lead into a private network. A name that must be resolved is checked when it is connected to.
 */
export function isPrivateHost(hostname: string): boolean {
  const address = addressOfHost(hostname);
  if (address !== null) return !isPublicAddress(address);
  return LOCAL_NAMES.test(hostname.toLowerCase().replace(/\.$/, ""));
}

/**
 * Whether a URL of http or https, parsed, names a port that events may be sent to: 80, 443, or one from 1024 on. Those
 * below are of other services (mail, SSH, name servers), which a POST must not reach. Null: the protocol's own port.
 */
export function isWebhookPort(port: string | null): boolean {
  const number = port === null || port === "" ? 443 : Number(port);
  return number === 80 || number === 443 || number >= 1024;
}
