/** Where a credential, and all that it creates, belongs (contract: Environments). */
export type Environment = "sandbox" | "production";
