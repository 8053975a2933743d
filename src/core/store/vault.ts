import type { KeyPurpose } from "./schema/values.ts";

/**
 * A data key, unwrapped: for sealed values, blind indexes, unguessable links, or the secrets of credentials. Purpose
 * `field` is that of earlier versions, whose sealed values were bound to no place: it only opens them for the first
 * start that seals them again.
 */
export interface DataKey {
  id: string;
  purpose: KeyPurpose;
  secret: Buffer;
  retired: boolean;
}

/** Every column that holds sealed values, by its name in the database: part of what a value is bound to. */
export const sealedColumns = [
  "activations.customer_sealed",
  "activations.mobile_number_sealed",
  "activations.sealed",
  "alert_targets.address_sealed",
  "alert_targets.secret_sealed",
  "carriers.secret_sealed",
  "esims.sealed",
  "events.sealed",
  "invitations.token_sealed",
  "order_items.traveller_sealed",
  "orders.customer_sealed",
  "passports.sealed",
  "signing_keys.private_sealed",
  "supplier_tokens.token_sealed",
  "suppliers.callback_sealed",
  "suppliers.secret_sealed",
  "traveler_mails.address_sealed",
  "user_factors.sealed",
  "users.sealed",
  "webhook_endpoints.next_secret_sealed",
  "webhook_endpoints.secret_sealed",
] as const;
export type SealedColumn = (typeof sealedColumns)[number];

/** Where a sealed value is stored: it opens there and nowhere else. */
export interface Cell {
  column: SealedColumn;
  /** The primary key of its row. */
  row: string;
}

/** A value sealed under a key that this vault does not hold: made since by another process, or deleted. */
export class UnknownKeyError extends Error {
  constructor() {
    super("sealed under an unknown key");
    this.name = "UnknownKeyError";
  }
}

/** A sealed value that does not open where it is stored: it was altered, or copied from another row. */
export class UnreadableError extends Error {
  readonly code = "unreadable";
  readonly hint = "Run esimctl doctor, which lists all of them, and restore a backup from before.";
  readonly cell: Cell;

  constructor(cell: Cell, cause?: unknown) {
    const where = `${cell.column} in row ${cell.row}`;
    super(`The sealed value of ${where} cannot be read: it was altered, or copied from another row.`, { cause });
    this.name = "UnreadableError";
    this.cell = cell;
  }
}

/** Seals and opens fields. Holds its keys in memory only. */
export interface Vault {
  /**
   * AES-256-GCM under the current key, fresh nonce each time, bound to the cell it is stored in. The text names its
   * key. Only inside a command, where the current key cannot change: elsewhere another process may retire and delete
   * it before the text is stored. What is sealed elsewhere is stored only by a command that sees to that.
   */
  seal(plain: string, cell: Cell): string;
  /** What `seal` sealed for this cell, also under a retired key. Throws `UnreadableError`, `UnknownKeyError`. */
  open(sealed: string, cell: Cell): string;
  /** The same, but null where it cannot be read, which is reported: one such row must not hide the others of a list. */
  openIfReadable(sealed: string, cell: Cell): string | null;
  /** What an earlier version sealed, bound to no cell. Only for sealing it again. Throws when it cannot be read. */
  openUnbound(sealed: string): string;
  /** The id of the key that sealed it. */
  keyOf(sealed: string): string;
  /** The id of the key that `seal` uses now. */
  currentKey(): string;
  /** `secret` sealed under the master key, for the data key `id`. Throws `StoreError` after `keep`. */
  wrapKey(secret: Buffer, id: string): string;
  /** Wraps new keys under another master key from now on. */
  useMasterKey(key: Buffer): void;
  /** A keyed one-way mark of `value`, for exact look-ups within `space`. */
  blindIndex(space: string, value: string): string;
  /** A keyed mark that makes an address unguessable: 22 characters, base64url. */
  linkMark(space: string, value: string): string;
  /** A keyed mark of a credential's secret: without the key no one can write a mark that opens. */
  credentialMark(clientId: string, secret: string): string;
  /** A 256-bit key of its own for `space`, derived from the index key, which no rotation replaces. */
  subkey(space: string): Buffer;
  /** Takes over the keys as they are in the database now. */
  reload(keys: DataKey[]): void;
  /**
   * Takes over the states of the keys that the database has now, where its master key is not known any more: no new
   * key is wrapped. False, and nothing changes, where the vault lacks one of them.
   */
  keep(states: readonly Pick<DataKey, "id" | "retired">[]): boolean;
}
