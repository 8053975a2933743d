import { isRefused } from "./http-url.ts";
import type { FieldErrors } from "./problem.ts";

/** How a carrier or a supplier is reached; other adapters than `http` need neither address nor secret. */
interface Reached {
  adapter: string;
  url: string | null;
  /** Whether the address may be one without TLS. */
  insecure: boolean;
  secret_sealed: string | null;
}

/** What is wrong with an address, or with a secret that is set now. */
export function exchangeFaults({ url }: Pick<Reached, "url">, secret: string | undefined): FieldErrors {
  const errors: FieldErrors = {};
  if (secret !== undefined && secret.length < 16) errors.secret = ["must have at least 16 characters"];
  if (url !== null && !isPlainHttpUrl(url)) errors.url = ["must be an http(s) address without a login"];
  return errors;
}

const CLEARTEXT_REFUSED = "must be https beyond this machine, or be allowed with --insecure";

/** What an adapter lacks that is reached by HTTP. */
export function exchangeNeeds({ adapter, url, insecure, secret_sealed }: Reached): FieldErrors {
  const errors: FieldErrors = {};
  if (isRefused({ url, insecure })) errors.url = [CLEARTEXT_REFUSED];
  if (url === null) errors.url = [`is needed by the ${adapter} adapter`];
  if (secret_sealed === null) errors.secret = [`is needed by the ${adapter} adapter`];
  return errors;
}

/** Whether `text` is an absolute http(s) address without a login in it. */
function isPlainHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
