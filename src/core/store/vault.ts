import {
  type CipherKey,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { KeyPurpose } from "./schema/values.ts";

/** A data key, unwrapped: for field encryption, blind indexes, unguessable links, or the secrets of credentials. */
export interface DataKey {
  id: string;
  purpose: KeyPurpose;
  secret: Buffer;
  retired: boolean;
}

/** Text sealed under a key that this vault does not hold: made since by another process, or deleted. */
export class UnknownKeyError extends Error {
  constructor() {
    super("sealed under an unknown key");
    this.name = "UnknownKeyError";
  }
}

/** Seals and opens fields. Holds its keys in memory only. */
export interface Vault {
  /**
   * AES-256-GCM under the current field key, fresh nonce each time. The text names its key. Only inside a command,
   * where the current key cannot change: elsewhere another process may retire and delete it before the text is stored.
   */
  seal(plain: string): string;
  /** What `seal` sealed, also under a retired key. Throws when it was altered, `UnknownKeyError` without its key. */
  open(sealed: string): string;
  /** The id of the key that sealed it. */
  keyOf(sealed: string): string;
  /** The id of the key that `seal` uses now. */
  currentKey(): string;
  /** `secret` sealed under the master key of the key file, for the data key `id`. */
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
}

const VERSION = "v1";

type HeldKey = Omit<DataKey, "secret"> & { secret: KeyObject };

/**
 * A vault without data keys, which `reload` brings; the master key wraps new ones. `open` and `seal` are synchronous:
 * they run inside transactions.
 */
export function createVault(firstMasterKey: Buffer): Vault {
  let masterKey = firstMasterKey;
  let byId = new Map<string, HeldKey>();
  let current = new Map<DataKey["purpose"], HeldKey>();

  function reload(keys: DataKey[]): void {
    // Made once: turning the bytes into a key at each use costs as much as the use.
    const held = keys.map((key) => ({ ...key, secret: createSecretKey(key.secret) }));
    // One that is gone from the database still opens what was read just before.
    byId = new Map([...byId, ...held.map((key): [string, HeldKey] => [key.id, key])]);
    current = new Map(held.filter((key) => !key.retired).map((key) => [key.purpose, key]));
  }

  function keyFor(purpose: DataKey["purpose"]): HeldKey {
    const key = current.get(purpose);
    if (key === undefined) throw new Error(`no ${purpose} key in the database`);
    return key;
  }

  function mark(purpose: "index" | "link", space: string, value: string): Buffer {
    return createHmac("sha256", keyFor(purpose).secret).update(`${space}\0${value}`).digest();
  }

  return {
    seal(plain) {
      const key = keyFor("field");
      return [VERSION, key.id, sealBytes(key.secret, Buffer.from(plain, "utf8"), key.id)].join(".");
    },
    open(sealed) {
      const [version, keyId, body] = sealed.split(".");
      const key = byId.get(keyId ?? "");
      if (version !== VERSION || body === undefined) throw new Error("not sealed by this vault");
      if (key === undefined) throw new UnknownKeyError();
      return openBytes(key.secret, body, key.id).toString("utf8");
    },
    keyOf: (sealed) => sealed.split(".")[1] ?? "",
    currentKey: () => keyFor("field").id,
    wrapKey: (secret, id) => sealBytes(masterKey, secret, id),
    useMasterKey(key) {
      masterKey = key;
    },
    blindIndex: (space, value) => mark("index", space, value).toString("base64url"),
    credentialMark: (clientId, secret) => markOfCredential(keyFor("credential").secret, clientId, hashOfSecret(secret)),
    linkMark: (space, value) => mark("link", space, value).subarray(0, 16).toString("base64url"),
    subkey: (space) => mark("index", "subkey", space),
    reload,
  };
}

/** SHA-256 (hex) of a credential's secret. Random 256 bits need no slow hash. */
function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** What is stored of a credential's secret: `m1.` and the HMAC-SHA256 of its client ID and the hash of its secret. */
export function markOfCredential(key: CipherKey, clientId: string, hash: string): string {
  return `${CREDENTIAL_MARK}${createHmac("sha256", key).update(`${clientId}\0${hash}`).digest("base64url")}`;
}

/** How every mark of a credential begins. */
export const CREDENTIAL_MARK = "m1.";

/** nonce (12) + tag (16) + ciphertext, base64url; `context` is authenticated with it. */
export function sealBytes(key: CipherKey, plain: Buffer, context: string): string {
  const nonce = randomBytes(12);
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
