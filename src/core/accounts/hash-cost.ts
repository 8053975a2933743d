/** argon2id as OWASP recommends it at least: 19 MiB, two passes. */
export const COST = { memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 } as const;
