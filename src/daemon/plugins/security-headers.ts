import type { DaemonContext } from "../context/context.ts";

/** Headers by name. */
export type Headers = Readonly<Record<string, string>>;

/** The security headers of every response, also of those that no hook sees; HSTS where the public address is https. */
export function securityHeaders({ addresses }: Pick<DaemonContext, "addresses">): Headers {
  const secure = addresses.publicUrl.startsWith("https:");
  return {
    "x-content-type-options": "nosniff",
    ...(secure ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}
