/** What a credential may be allowed to do (contract: Authentication, 6). */
export const scopes = [
  "read:products",
  "read:orders",
  "write:orders",
  "read:esims",
  "read:webhooks",
  "write:webhooks",
] as const;

export type Scope = (typeof scopes)[number];

/** Whether `text` names a scope of the contract. */
export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}

/** The scopes that a route's rule asks for. */
export function scopesOf(rule: Scope | "all"): readonly Scope[] {
  return rule === "all" ? scopes : [rule];
}
