/** Where a credential, and all that it creates, belongs (contract: Environments). */
export const environments = ["sandbox", "production"] as const;
export type Environment = (typeof environments)[number];

/** The order in which work of both is looked for. */
export const productionFirst: readonly Environment[] = ["production", "sandbox"];
