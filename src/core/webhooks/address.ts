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
  // Only 2000::/3 of IPv6 is given out (RFC 4291; IANA).
  return parsed.kind() === "ipv4" || parsed.match(ipaddr.parseCIDR("2000::/3"));
}

/** The IP address that a URL's host spells, or null when it is a name. */
export function addressOfHost(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(bare) ? bare : null;
}

/**
 * Whether a URL's host, as URL has normalized it (so that decimal, octal and hex spellings are one), is known without
 * asking anybody to lead into a private network. A name that must be resolved is checked when it is connected to.
 */
export function isPrivateHost(hostname: string): boolean {
  const address = addressOfHost(hostname);
  if (address !== null) return !isPublicAddress(address);
  return LOCAL_NAMES.test(hostname.toLowerCase().replace(/\.$/, ""));
}

// The Fetch standard's bad ports, and 0, which cannot be connected to. They are of services that read lines, as of
// mail, SSH or IRC, and would take a POST for commands.
// biome-ignore format: one table
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
  110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
  532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
  5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Whether a URL of http or https, parsed, names a port that events may be sent to: any that browsers do not block. Null
 * or empty: the protocol's own port.
 */
export function isWebhookPort(port: string | null): boolean {
  return port === null || port === "" || !BLOCKED_PORTS.has(Number(port));
}
