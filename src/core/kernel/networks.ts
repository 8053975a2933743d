import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses. */
export interface Network {
  address: Address;
  bits: number;
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
/** Bits of an IPv6 address before an IPv4 address that it maps. */
const MAPPED = 96;

/**
 * The address of a peer: an IPv4 address itself, also where it is mapped into IPv6. Null: it is none. The zone of a
 * link-local address says which of this machine's networks is meant, and is left out.
 */
export function addressOf(ip: string): Address | null {
  const [bare = ip] = ip.split("%", 1);
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/** The network that a text in CIDR notation names, or one address. Null: it names none. */
export function networkOf(text: string): Network | null {
  const [ip = "", prefix, ...rest] = text.trim().split("/");
  const valid = ip.includes(":") ? ipaddr.IPv6.isValid(ip) : ipaddr.IPv4.isValidFourPartDecimal(ip);
  if (!valid || ip.includes("%") || rest.length > 0) return null;
  const address = ipaddr.parse(ip);
  const most = BITS[address.kind()];
  const bits = prefix === undefined ? most : Number(/^\d{1,3}$/.test(prefix) ? prefix : Number.NaN);
  if (!(bits >= 0 && bits <= most)) return null;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return bits < MAPPED ? null : { address: address.toIPv4Address(), bits: bits - MAPPED };
  }
  return { address, bits };
}

/** A network in CIDR notation, its host bits zero. */
export function networkText({ address, bits }: Network): string {
  const range = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${range.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}`;
}

/** Whether the address of a peer is in one of the networks. */
export function isWithin(ip: string, networks: readonly Network[]): boolean {
  const address = addressOf(ip);
  if (address === null) return false;
  return networks.some((one) => one.address.kind() === address.kind() && address.match(one.address, one.bits));
}
