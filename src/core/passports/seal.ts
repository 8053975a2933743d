import type { PassportId } from "../kernel/brand.ts";
import { type Ids, newId } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { digestsOnce, keysOfPassport } from "../store/sealing/people.ts";
import type { Tx } from "../store/store.ts";
import type { Vault } from "../store/vault.ts";
import { columnsOf, type NewPassport, sealedPartOf } from "./passport.ts";

/** A checked passport as it is stored: what is sensitive sealed for its row, and the marks that it is found by. */
export interface SealedPassport {
  id: PassportId;
  passport_country: string;
  passport_expiry: string;
  reference: string | null;
  sealed: string;
  number_index: string;
  /** Marks of the names on it, in its owner's scope. */
  digests: string[];
}

/** What passports are sealed with. Ids made one after the other sort in that order. */
export interface Sealing {
  vault: Vault;
  ids: Ids;
  now: number;
}

/** Seals checked passports of one owner. */
export function passportSealer(
  sealing: Sealing,
  { partnerId: partner_id, environment }: Owner,
): (passport: NewPassport) => SealedPassport {
  const digestOf = digestsOnce(sealing)({ partner_id, environment });
  return (passport) => {
    const id = newId<PassportId>(sealing);
    const columns = columnsOf(sealing, id, passport);
    return { id, ...columns, digests: keysOfPassport(passport).map(digestOf) };
  };
}

/** Passports of one text: enough that texts are few, and few enough that a thread that reads one holds little. */
const TOGETHER = 500;

/** Gathers sealed passports as texts of many: on its way to another thread one text costs less than its rows do. */
export function gatherSealed() {
  let texts: string[] = [];
  let passports: SealedPassport[] = [];
  const close = () => {
    if (passports.length > 0) texts.push(JSON.stringify(passports));
    passports = [];
  };
  return {
    add(passport: SealedPassport): void {
      passports.push(passport);
      if (passports.length === TOGETHER) close();
    },
    /** All of them, for `importPassports`; they are not kept here: a thread that writes has a copy. */
    take(): readonly string[] {
      close();
      const taken = texts;
      texts = [];
      return taken;
    },
  };
}

/** The same for the few of one request. */
export function sealAll(sealing: Sealing, owner: Owner, passports: readonly NewPassport[]) {
  const sealed = passports.map(passportSealer(sealing, owner));
  return { sealed, texts: [JSON.stringify(sealed)] };
}

/** The passports of one text. */
export function sealedOf(text: string): SealedPassport[] {
  // It was made of these.
  return JSON.parse(text) as SealedPassport[];
}

/** What was sealed outside of a transaction, under the key of this one: it may have been replaced since. */
export function underCurrentKey({ vault }: Pick<Tx, "vault">, { id, sealed }: SealedPassport): string {
  if (vault.keyOf(sealed) === vault.currentKey()) return sealed;
  const cell = sealedPartOf(id);
  return vault.seal(vault.open(sealed, cell), cell);
}
