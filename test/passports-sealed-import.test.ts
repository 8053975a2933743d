import fc from "fast-check";
import { expect, test } from "vitest";
import { rotateAndReseal } from "../src/core/credentials/rotate-data-key.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import type { Owner } from "../src/core/kernel/owner.ts";
import { checkPassport, type SentPassport } from "../src/core/passports/check.ts";
import { importPassports, importSealedPassports } from "../src/core/passports/import.ts";
import { type NewPassport, openPassport } from "../src/core/passports/passport.ts";
import { passportSealer, type SealedPassport } from "../src/core/passports/seal.ts";
import type { Store } from "../src/core/store/store.ts";
import { passport, withAgent } from "./support/passports.ts";

const TODAY = "2026-03-01";
const ACTOR = "operator";
/** Of the process that seals. */
const ids = randomIds();

function checked(sent: SentPassport): NewPassport {
  const outcome = checkPassport(sent, TODAY);
  if ("problems" in outcome) throw new Error(JSON.stringify(outcome.problems));
  return outcome.ok;
}

/** Sealed beside the transaction, as the terminal does. */
function sealed({ vault }: Store, owner: Owner, records: readonly SentPassport[]): SealedPassport[] {
  const seal = passportSealer({ vault, ids, now: Date.parse(TODAY) }, owner);
  return records.map((record) => seal(checked(record)));
}

async function importSealed(store: Store, owner: Owner, records: readonly SentPassport[]): Promise<string[]> {
  const passports = sealed(store, owner, records);
  const { skipped } = await store.write(importSealedPassports, { ...owner, passports, actor: ACTOR });
  return records.map((_, at) => (skipped.includes(at) ? "duplicate" : "imported"));
}

async function importOneByOne(store: Store, owner: Owner, records: readonly SentPassport[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const record of records) {
    const { imported } = await store.write(importPassports, { ...owner, records: [record], actor: ACTOR });
    outcomes.push(imported === 1 ? "imported" : "duplicate");
  }
  return outcomes;
}

/** The passports of a pool in the order of their ids, opened, each with how many marks it is found by. */
function poolOf(store: Store, { partnerId }: Owner) {
  return store.read(async (q) => {
    const rows = await q.db.select().from(q.t.passports).orderBy(q.t.passports.id);
    const marks = await q.db.select().from(q.t.peopleIndex);
    return rows
      .filter((row) => row.partner_id === partnerId)
      .map((row) => {
        const { id: _, partner_id: _partner, sealed: _sealed, created_at: _at, updated_at: _changed, ...columns } = row;
        const found = marks.filter(({ record_id }) => record_id === row.id);
        return {
          ...columns,
          ...openPassport(q, row),
          marks: found.length,
          kinds: new Set(found.map((one) => one.kind)),
        };
      });
  }, null);
}

/** Few numbers and countries, written in several ways, so that many are the same document. */
const records = fc.record({
  number: fc.constantFrom("AB 123", "ab-123", "AB124", "XY9 99", "XY999"),
  country: fc.constantFrom("GBR", "gb", "DEU"),
  name: fc.constantFrom("Zoë", "Zoe", "Ng", "O'Hara van Dyke"),
  reference: fc.constantFrom("", 'a "note", ß\n', "GRP-1"),
});

test("sealed outside of their transaction, passports are stored as one by one, duplicates and all", async () => {
  const { store, caller } = await withAgent();
  let made = 0;
  const batches = fc.array(fc.array(records, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(batches, async (drawn) => {
    made += 1;
    const [many, single] = await Promise.all(
      ["many", "single"].map(async (slug): Promise<Owner> => {
        const { partnerId } = await caller({ slug: `${slug}-${made}`, agent: true });
        return { partnerId, environment: "sandbox" };
      }),
    );
    if (many === undefined || single === undefined) throw new Error("no partners");
    for (const batch of drawn) {
      const sent = batch.map(({ number, country, name, reference }) =>
        passport({ passport_no: number, passport_country: country, first_name: name, last_name: "Same", reference }),
      );
      expect(await importSealed(store, many, sent)).toEqual(await importOneByOne(store, single, sent));
    }
    expect(await poolOf(store, many)).toEqual(await poolOf(store, single));
  });
  await fc.assert(property, { numRuns: 8 });
});

test("what was sealed under a key that is gone by then is sealed again, and opens", async () => {
  const { store, again, agent } = await withAgent();
  const owner: Owner = { partnerId: agent.partnerId, environment: "sandbox" };
  const sent = [passport(), passport()];
  const passports = sealed(store, owner, sent);
  const other = await again();
  const rest = async () => undefined;
  expect(await rotateAndReseal(other, { actor: ACTOR, rest })).toMatchObject({ finished: true, dropped: 1 });
  await store.write(importSealedPassports, { ...owner, passports, actor: ACTOR });

  const late = await again();
  const stored = await late.read((q) => q.db.select().from(q.t.passports).orderBy(q.t.passports.id), null);
  expect(stored.map((row) => openPassport(late, row))).toEqual(sent.map(checked));
  expect(stored.every((row) => late.vault.keyOf(row.sealed) === late.vault.currentKey())).toBe(true);
});

test("a sealed passport opens in its own row and in no other", async () => {
  const { store, agent } = await withAgent();
  const owner: Owner = { partnerId: agent.partnerId, environment: "sandbox" };
  const [one, other] = sealed(store, owner, [passport(), passport()]);
  if (one === undefined || other === undefined) throw new Error("nothing was sealed");
  const passports = [{ ...one, sealed: other.sealed }];
  await store.write(importSealedPassports, { ...owner, passports, actor: ACTOR });
  const rows = await store.read((q) => q.db.select().from(q.t.passports), null);
  expect(() => rows.map((row) => openPassport(store, row))).toThrow(/altered, or copied/);
});
