import type { Kit } from "./kit.ts";

/** The head of a hash chain of rows: how many rows it has and the hash of the last. See store/sealing/chain.ts. */
export function headColumns(k: Kit) {
  return {
    chain_count: k.int("chain_count").notNull().default(0),
    /** Null: the chain has no row yet. */
    chain_hash: k.text("chain_hash"),
    /** Keyed mark of the head: without the key file no other head can be made. */
    chain_mark: k.text("chain_mark"),
    /** How many rows the last signature of the head covers; 0: none was made. */
    signed_count: k.int("signed_count").notNull().default(0),
  };
}

/** A row's place in its chain. Null only until the migration that added the columns has filled them. */
export function linkColumns(k: Kit) {
  return {
    /** 1 for the first row of the chain. */
    chain_no: k.int("chain_no"),
    /** SHA-256 (hex) of the row's canonical text, which holds the hash of the row before. */
    hash: k.text("hash"),
  };
}

/** Heads of the audit trail's chains (wallets carry their own), and the signatures of all heads. */
export function chainTables(k: Kit) {
  const chainHeads = k.table("chain_heads", { chain: k.text("chain").primaryKey(), ...headColumns(k) });

  const signedHeads = k.table(
    "signed_heads",
    {
      chain: k.text("chain").notNull(),
      /** The head as it was signed. */
      count: k.int("count").notNull(),
      hash: k.text("hash").notNull(),
      /** The count of the signature before; 0: this is the first. */
      previous_count: k.int("previous_count").notNull(),
      signed_at: k.int("signed_at").notNull(),
      /** The signing key, and its Ed25519 signature of the head's canonical text, base64url. */
      kid: k.text("kid").notNull(),
      signature: k.text("signature").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.chain, t.count] })],
  );

  return { chainHeads, signedHeads };
}
