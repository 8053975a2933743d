import { and, eq, isNull } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { FactorId, UserId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { type Ids, newId } from "../kernel/ids.ts";
import { invalid, notFound, Problem } from "../kernel/problem.ts";
import { findByKey, insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { FactorKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { about } from "./user.ts";

type FactorRow = Row<"userFactors">;

/** TOTP as every app has it (RFC 6238): SHA-1, 6 digits, 30 s; a code of the step before or after is accepted. */
const TOTP_KIND = { algorithm: "SHA1", digits: 6, period: 30 } as const;
const SECRET_BYTES = 20;
const TOLERANCE = 1;

const RECOVERY_CODES = 10;

const factorCell = (id: FactorId) => ({ column: "user_factors.sealed", row: id }) as const;

const ofUser = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db.select().from(t.userFactors).where(eq(t.userFactors.user_id, slot.user_id)).orderBy(t.userFactors.id),
);

const dropOne = statement((db, t, slot: Slots<{ id: FactorId }>) =>
  db.delete(t.userFactors).where(eq(t.userFactors.id, slot.id)),
);

const dropAll = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db.delete(t.userFactors).where(eq(t.userFactors.user_id, slot.user_id)),
);

const dropUnconfirmed = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db.delete(t.userFactors).where(and(eq(t.userFactors.user_id, slot.user_id), isNull(t.userFactors.confirmed_at))),
);

const dropCodes = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db.delete(t.userFactors).where(and(eq(t.userFactors.user_id, slot.user_id), eq(t.userFactors.kind, "recovery"))),
);

/** Takes all factors of a user away. */
export async function dropFactors(tx: Tx, user_id: UserId): Promise<void> {
  await dropAll(tx, { user_id });
}

/** A factor as its user sees it. */
export interface Factor {
  id: FactorId;
  kind: FactorKind;
  label: string;
  created_at: string;
}

/** A user's factors, and how many recovery codes are left. */
export interface Factors {
  factors: Factor[];
  recoveryCodes: number;
}

/** Passkeys and apps that prove a user, the earliest first. */
export async function factorsOf(q: Read, user_id: UserId): Promise<Factors> {
  const rows = (await ofUser(q, { user_id })).filter(({ confirmed_at }) => confirmed_at !== null);
  const factors = rows.filter(({ kind }) => kind !== "recovery");
  return {
    factors: factors.map(({ id, kind, label, created_at }) => ({
      id,
      kind,
      label: label ?? kind,
      created_at: isoTime(created_at),
    })),
    recoveryCodes: rows.length - factors.length,
  };
}

/** Whether a user has a factor beside the password. */
export async function hasFactor(q: Read, userId: UserId): Promise<boolean> {
  return (await factorsOf(q, userId)).factors.length > 0;
}

function sealed(q: Pick<Read, "vault">, id: FactorId, value: unknown): string {
  return q.vault.seal(JSON.stringify(value), factorCell(id));
}

function opened<T>(q: Pick<Read, "vault">, { id, sealed: text }: FactorRow): T {
  // `sealed` sealed what the kind of the factor says.
  return JSON.parse(q.vault.open(text, factorCell(id))) as T;
}

function newFactor(tx: Tx, user_id: UserId, kind: FactorKind, content: unknown): FactorRow {
  const id = newId<FactorId>(tx);
  const times = { created_at: tx.now, confirmed_at: tx.now };
  return { id, user_id, kind, label: null, sealed: sealed(tx, id, content), credential_id: null, used_no: 0, ...times };
}

/** A secret that an app makes codes from. */
function totpOf(secret: string, account = ""): TOTP {
  return new TOTP({ issuer: "esimctl", label: account, secret: Secret.fromBase32(secret), ...TOTP_KIND });
}

/** What an app is set up with: the secret in base32, and the whole as an address. */
export interface NewTotp {
  secret: string;
  address: string;
}

/** Begins to set an app up, in place of one that was begun before; it counts from its first code on. */
export async function beginTotp(tx: Tx, { userId, email }: { userId: UserId; email: string }): Promise<NewTotp> {
  await dropUnconfirmed(tx, { user_id: userId });
  const secret = new Secret({ buffer: bufferOf(tx.ids.bytes(SECRET_BYTES)) }).base32;
  const row = newFactor(tx, userId, "totp", secret);
  await insert(tx, "userFactors", [{ ...row, label: "Authenticator app", confirmed_at: null }]);
  return { secret, address: totpOf(secret, email).toString() };
}

function bufferOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

/** The app that a user has begun to set up; null: none. */
export async function begunTotp(
  q: Read,
  { userId, email }: { userId: UserId; email: string },
): Promise<NewTotp | null> {
  const row = (await ofUser(q, { user_id: userId })).find(({ confirmed_at }) => confirmed_at === null);
  if (row === undefined) return null;
  const secret = opened<string>(q, row);
  return { secret, address: totpOf(secret, email).toString() };
}

/** The step that a code is of, later than the last one used; null: it is none. */
function stepOf(q: Read, row: FactorRow, code: string): number | null {
  const delta = totpOf(opened<string>(q, row)).validate({ token: code, window: TOLERANCE, timestamp: q.now });
  if (delta === null) return null;
  const step = Math.floor(q.now / 1000 / TOTP_KIND.period) + delta;
  return step > row.used_no ? step : null;
}

/**
 * Confirms the app by its first code. Answers recovery codes, this once, where it is the user's first factor; an empty
 * list otherwise. Throws `validation` for a wrong code, `not_found` where none was begun.
 */
export async function confirmTotp(
  tx: Tx,
  { userId, code, actor }: { userId: UserId; code: string; actor: Actor },
): Promise<string[]> {
  const row = (await ofUser(tx, { user_id: userId })).find(({ confirmed_at }) => confirmed_at === null);
  if (row === undefined) throw notFound("user");
  const step = stepOf(tx, row, digitsOf(code));
  if (step === null) throw wrongCode();
  const isFirst = !(await hasFactor(tx, userId));
  await updateRow(tx, "userFactors", { id: row.id }, { used_no: step, confirmed_at: tx.now });
  await recordAudit(tx, { ...about({ id: userId }, actor), action: "users.factor_add", note: "totp" });
  return isFirst ? renewRecoveryCodes(tx, { userId, actor }) : [];
}

const digitsOf = (code: string) => code.replace(/\s+/g, "");

/** What a code that is none, or was used, is refused with. */
export function wrongCode(): Problem {
  return invalid({ code: ["is wrong, or was used already"] });
}

const LETTERS = "23456789abcdefghjkmnpqrstuvwxyz";

function newRecoveryCode(ids: Ids): string {
  const characters: string[] = [];
  while (characters.length < 12) {
    for (const byte of ids.bytes(16))
      if (byte < 248 && characters.length < 12) characters.push(LETTERS[byte % 31] ?? "");
  }
  return characters.join("").replace(/(.{4})(?=.)/g, "$1-");
}

/** Ten new recovery codes, which replace those before; answered this once. */
export async function renewRecoveryCodes(
  tx: Tx,
  { userId, actor }: { userId: UserId; actor: Actor },
): Promise<string[]> {
  await dropCodes(tx, { user_id: userId });
  const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(tx.ids));
  const rows = codes.map((code) => newFactor(tx, userId, "recovery", recoveryMark(tx, userId, code)));
  await insert(tx, "userFactors", rows);
  await recordAudit(tx, { ...about({ id: userId }, actor), action: "users.recovery_codes" });
  return codes;
}

function recoveryMark(q: Pick<Read, "vault">, userId: UserId, code: string): string {
  return q.vault.blindIndex(`recovery ${userId}`, code.toLowerCase().replace(/[^a-z0-9]/g, ""));
}

/** Uses a code of an app, or a recovery code, once. Throws `validation` where it is neither. */
export async function useCode(tx: Tx, { userId, code }: { userId: UserId; code: string }): Promise<void> {
  const rows = (await ofUser(tx, { user_id: userId })).filter(({ confirmed_at }) => confirmed_at !== null);
  const typed = digitsOf(code);
  for (const row of rows.filter(({ kind }) => kind === "totp")) {
    const step = /^\d{6}$/.test(typed) ? stepOf(tx, row, typed) : null;
    if (step === null) continue;
    await updateRow(tx, "userFactors", { id: row.id }, { used_no: step });
    return;
  }
  const mark = recoveryMark(tx, userId, code);
  const used = rows.find((row) => row.kind === "recovery" && opened<string>(tx, row) === mark);
  if (used === undefined) throw wrongCode();
  await dropOne(tx, { id: used.id });
}

/** A public key that a device keeps the private one of. */
export interface Passkey {
  id: FactorId;
  credentialId: string;
  /** COSE, base64url. */
  publicKey: string;
  transports: string[];
  counter: number;
}

type SealedPasskey = Pick<Passkey, "publicKey" | "transports">;

/** A user's passkeys. */
export async function passkeysOf(q: Read, userId: UserId): Promise<Passkey[]> {
  return (await ofUser(q, { user_id: userId })).flatMap((row) =>
    row.kind !== "passkey" || row.credential_id === null
      ? []
      : [{ id: row.id, credentialId: row.credential_id, counter: row.used_no, ...opened<SealedPasskey>(q, row) }],
  );
}

/**
 * Adds a passkey whose response was verified. Answers recovery codes as `confirmTotp` does. Throws `duplicate` for one
 * that is known.
 */
export async function addPasskey(
  tx: Tx,
  { userId, label, passkey, actor }: { userId: UserId; label: string; passkey: Omit<Passkey, "id">; actor: Actor },
): Promise<string[]> {
  const isFirst = !(await hasFactor(tx, userId));
  const { credentialId, counter, ...content } = passkey;
  const known = (await passkeysOf(tx, userId)).some((one) => one.credentialId === credentialId);
  if (known) throw new Problem("duplicate", "This passkey is there already.");
  const row = { ...newFactor(tx, userId, "passkey", content), label: label.trim().slice(0, 60) || "Passkey" };
  await insert(tx, "userFactors", [{ ...row, credential_id: credentialId, used_no: counter }]);
  await recordAudit(tx, { ...about({ id: userId }, actor), action: "users.factor_add", note: "passkey" });
  return isFirst ? renewRecoveryCodes(tx, { userId, actor }) : [];
}

/**
 * Notes the signature count of a passkey that was just verified. Throws `validation` where it went back, or the passkey
 * was removed meanwhile.
 */
export async function usePasskey(
  tx: Tx,
  { passkey: { id }, counter }: { passkey: Pick<Passkey, "id">; counter: number },
): Promise<void> {
  const row = await findByKey(tx, "userFactors", { id });
  if (row === null || (counter <= row.used_no && counter + row.used_no > 0)) throw refusedPasskey();
  await updateRow(tx, "userFactors", { id }, { used_no: counter });
}

/** What a passkey is refused with that does not prove its user. */
export function refusedPasskey(): Problem {
  return invalid({ passkey: ["was not accepted"] });
}

/** Removes a factor. Throws `not_found`, and `conflict` for the last one of a user who must have one. */
export async function removeFactor(
  tx: Tx,
  { userId, id, mustHave, actor }: { userId: UserId; id: FactorId; mustHave: boolean; actor: Actor },
): Promise<void> {
  const { factors } = await factorsOf(tx, userId);
  const factor = factors.find((one) => one.id === id);
  if (factor === undefined) throw notFound("user");
  if (mustHave && factors.length === 1) {
    throw new Problem("conflict", "You must have a second factor. Add another one before you remove this.");
  }
  await dropOne(tx, { id });
  if (factors.length === 1) await dropAll(tx, { user_id: userId });
  await recordAudit(tx, { ...about({ id: userId }, actor), action: "users.factor_remove", note: factor.kind });
}
