import type { Environment } from "../kernel/environment.ts";
import { isPrivateHost } from "./address.ts";

const LONGEST = 2048;
// URL would silently drop some of these and escape others: what was typed would not be what is called.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const STRAY = /[\u0000-\u0020\u007f\\]/;

/** Why a URL cannot receive events, as a sentence that follows "url"; null when it can (contract: Webhooks). */
export function endpointUrlFault(
  url: string,
  { environment, allowPrivate }: { environment: Environment; allowPrivate: boolean },
): string | null {
  const absolute = "must be an absolute http(s) address such as https://example.com/hooks";
  if (url.length > LONGEST) return `must be at most ${LONGEST} characters`;
  if (STRAY.test(url) || !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) return absolute;
  const { protocol, username, password, hostname } = new URL(url);
  if (username !== "" || password !== "" || /^[^/]*\/\/[^/?#]*@/.test(url)) return "must not carry credentials";
  if (url.includes("#")) return "must not have a fragment";
  if (environment === "production" && protocol !== "https:") return "must be https in production";
  if (!allowPrivate && isPrivateHost(hostname)) return "must not lead to a private, loopback or link-local address";
  return null;
}
