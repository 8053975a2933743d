import type { PartnerId } from "./brand.ts";
import type { Environment } from "./environment.ts";

/** Whose records are meant: a token sees only its partner's, of its environment. */
export interface Owner {
  partnerId: PartnerId;
  environment: Environment;
}
