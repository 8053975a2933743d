import {
  type CipherKey,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type Hmac,
  hash,
  type KeyObject,
  randomFillSync,
} from "node:crypto";
import { StoreError } from "../problems.ts";
import { type Cell, type DataKey, UnknownKeyError, UnreadableError, type Vault } from "../vault.ts";

const VERSION = "v2";
/** The version of values that are bound to no cell. */
const UNBOUND_VERSION = "v1";

type HeldKey = Omit<DataKey, "secret"> & { secret: KeyObject };

/**
 * A vault without data keys, which `reload` brings; the master key wraps new ones. `open` and `seal` are synchronous:
 * they run inside transactions. `report` gets what `openIfReadable` could not read.
 */
export function createVault(firstMasterKey: Buffer, report: (error: UnreadableError) => void = () => undefined): Vault {
  const { byId, keyFor, hold } = heldKeys();
  const wrapping = wrapWith(firstMasterKey);

  function marking(purpose: "index" | "link", space: string, value: string): Hmac {
    return createHmac("sha256", keyFor(purpose).secret).update(`${space}\0${value}`);
  }

  function open(sealed: string, cell: Cell): string {
    const [version, keyId = "", body = ""] = sealed.split(".");
    if (version !== VERSION) throw new UnreadableError(cell);
    const key = byId(keyId);
    if (key === undefined) throw new UnknownKeyError();
    try {
      return openBytes(key.secret, body, contextOf(key.id, cell)).toString("utf8");
    } catch (error) {
      throw new UnreadableError(cell, error);
    }
  }

  return {
    seal(plain, cell) {
      const key = keyFor("cell");
      return [VERSION, key.id, sealBytes(key.secret, Buffer.from(plain, "utf8"), contextOf(key.id, cell))].join(".");
    },
    open,
    openIfReadable: tolerant(open, report),
    openUnbound(sealed) {
      const [version, keyId = "", body = ""] = sealed.split(".");
      const key = byId(keyId);
      if (version !== UNBOUND_VERSION || key?.purpose !== "field") throw new Error("not sealed by an earlier version");
      return openBytes(key.secret, body, key.id).toString("utf8");
    },
    keyOf: (sealed) => sealed.split(".")[1] ?? "",
    currentKey: () => keyFor("cell").id,
    wrapKey: wrapping.wrapKey,
    useMasterKey: wrapping.use,
    blindIndex: (space, value) => marking("index", space, value).digest("base64url"),
    credentialMark: (clientId, secret) => markOfCredential(keyFor("credential").secret, clientId, hashOfSecret(secret)),
    linkMark: (space, value) => marking("link", space, value).digest().subarray(0, 16).toString("base64url"),
    subkey: (space) => marking("index", "subkey", space).digest(),
    reload: (keys) => hold(keys.map(heldKey)),
    keep(states) {
      const held = states.flatMap(({ id, retired }) => {
        const key = byId(id);
        return key === undefined ? [] : [{ ...key, retired }];
      });
      if (held.length < states.length) return false;
      wrapping.use(null);
      hold(held);
      return true;
    },
  };
}

/** The data keys of a vault; `hold` takes over those of the database. */
function heldKeys() {
  let byId = new Map<string, HeldKey>();
  let current = new Map<DataKey["purpose"], HeldKey>();
  return {
    byId: (id: string) => byId.get(id),
    keyFor(purpose: DataKey["purpose"]): HeldKey {
      const key = current.get(purpose);
      if (key === undefined) throw new Error(`no ${purpose} key in the database`);
      return key;
    },
    hold(held: readonly HeldKey[]): void {
      // One that is gone from the database still opens what was read just before.
      byId = new Map([...byId, ...held.map((key): [string, HeldKey] => [key.id, key])]);
      current = new Map(held.filter((key) => !key.retired).map((key) => [key.purpose, key]));
    },
  };
}

/** Wraps data keys under the master key; null: it is not known any more. */
function wrapWith(first: Buffer) {
  let masterKey: Buffer | null = first;
  return {
    wrapKey(secret: Buffer, id: string): string {
      if (masterKey !== null) return sealBytes(masterKey, secret, id);
      throw new StoreError("The master key was replaced since this process started.", "Start it with the new key.");
    },
    use(key: Buffer | null): void {
      masterKey = key;
    },
  };
}

/** Made once: turning the bytes into a key at each use costs as much as the use. */
function heldKey(key: DataKey): HeldKey {
  return { ...key, secret: createSecretKey(key.secret) };
}

/** SHA-256 (hex) of a credential's secret. Random 256 bits need no slow hash. */
function hashOfSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** What is stored of a credential's secret: `m1.` and the HMAC-SHA256 of its client ID and the hash of its secret. */
export function markOfCredential(key: CipherKey, clientId: string, hash: string): string {
  return `${CREDENTIAL_MARK}${createHmac("sha256", key).update(`${clientId}\0${hash}`).digest("base64url")}`;
}

/** How every mark of a credential begins. */
export const CREDENTIAL_MARK = "m1.";

/**
 * The same vault where its keys are certainly those of the data that is read, as in a transaction: what is sealed under
 * a key that it does not hold is unreadable for good.
 */
export function withAllKeys(vault: Vault, report: (error: UnreadableError) => void): Vault {
  const open: Vault["open"] = (sealed, cell) => {
    try {
      return vault.open(sealed, cell);
    } catch (error) {
      throw error instanceof UnknownKeyError ? new UnreadableError(cell, error) : error;
    }
  };
  return { ...vault, open, openIfReadable: tolerant(open, report) };
}

function tolerant(open: Vault["open"], report: (error: UnreadableError) => void): Vault["openIfReadable"] {
  return (sealed, cell) => {
    try {
      return open(sealed, cell);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      report(error);
      return null;
    }
  };
}

/** What a sealed value is authenticated with: its form, its key, and the cell that it is stored in. */
function contextOf(keyId: string, { column, row }: Cell): string {
  // Only the last part may hold any character.
  return [VERSION, keyId, column, row].join("\0");
}

const NONCE_BYTES = 12;
const NONCES = 512;
const nonces = Buffer.alloc(NONCE_BYTES * NONCES);
let usedNonces = NONCES;

/** Random bytes for one seal, drawn many at a time: asking the system for each costs as much as the seal itself. */
function freshNonce(): Buffer {
  if (usedNonces === NONCES) {
    randomFillSync(nonces);
    usedNonces = 0;
  }
  usedNonces += 1;
  return nonces.subarray((usedNonces - 1) * NONCE_BYTES, usedNonces * NONCE_BYTES);
}

/** nonce (12) + tag (16) + ciphertext, base64url; `context` is authenticated with it. */
export function sealBytes(key: CipherKey, plain: Buffer, context: string): string {
  const nonce = freshNonce();
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
}

/** What `sealBytes` sealed. Throws when key, context or bytes differ. */
export function openBytes(key: CipherKey, sealed: string, context: string): Buffer {
  const bytes = Buffer.from(sealed, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
}
