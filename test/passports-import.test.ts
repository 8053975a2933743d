import fc from "fast-check";
import { expect, test } from "vitest";
import { rotateAndReseal } from "../src/core/credentials/rotate-keys.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import type { Owner } from "../src/core/kernel/owner.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { checkPassport, type SentPassport } from "../src/core/passports/check.ts";
import { importPassports } from "../src/core/passports/import.ts";
import { type NewPassport, openPassport } from "../src/core/passports/passport.ts";
import { gatherSealed, passportSealer, type SealedPassport } from "../src/core/passports/seal.ts";
import type { Store } from "../src/core/store/store.ts";
import { passport, withAgent } from "./support/passports.ts";

const TODAY = "2026-03-01";
const ACTOR = "operator";
/** The ids of the process that seals. */
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

function write(store: Store, owner: Owner, passports: readonly SealedPassport[]) {
  const gathered = gatherSealed();
  for (const one of passports) gathered.add(one);
  return store.write(importPassports, { ...owner, texts: gathered.take(), actor: ACTOR });
}

async function importSealed(store: Store, owner: Owner, records: readonly SentPassport[]): Promise<string[]> {
  const { skipped } = await write(store, owner, sealed(store, owner, records));
  return records.map((_, at) => (skipped.some(({ place }) => place === at) ? "duplicate" : "imported"));
}

async function importOneByOne(store: Store, owner: Owner, records: readonly SentPassport[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const record of records) outcomes.push(...(await importSealed(store, owner, [record])));
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

test("passports of one import are stored as one by one, duplicates and all", async () => {
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

test("of many passports the places of duplicates are known, and a pool that is full stores none of them", async () => {
  const { store, agent } = await withAgent();
  const owner: Owner = { partnerId: agent.partnerId, environment: "sandbox" };
  const numbered = (number: number) => passport({ passport_no: `QX${1_000_000 + number}` });
  await importSealed(store, owner, [numbered(700), numbered(1_200)]);
  const sent = Array.from({ length: 1_300 }, (_, number) => numbered(number === 1_250 ? 3 : number));
  const limited = { slug: "agency", bounds: { max_pool: 1_298 }, actor: ACTOR };
  await store.write(updatePartner, limited);
  await expect(importSealed(store, owner, sent)).rejects.toMatchObject({ slug: "pool_full" });
  expect(await poolOf(store, owner)).toHaveLength(2);
  await store.write(updatePartner, { ...limited, bounds: { max_pool: 1_299 } });
  const { skipped } = await write(store, owner, sealed(store, owner, sent));
  expect(skipped.map(({ place, repeated }) => [place, repeated])).toEqual([
    [700, false],
    [1_200, false],
    [1_250, true],
  ]);
  const pool = await poolOf(store, owner);
  expect([pool.length, new Set(pool.map(({ passport_no }) => passport_no)).size]).toEqual([1_299, 1_299]);
  expect(pool.every(({ marks }) => marks === 4)).toBe(true);
});

test("what was sealed under a key that is gone by then is sealed again, and opens", async () => {
  const { store, again, agent } = await withAgent();
  const owner: Owner = { partnerId: agent.partnerId, environment: "sandbox" };
  const sent = [passport(), passport()];
  const passports = sealed(store, owner, sent);
  const other = await again();
  const rest = async () => undefined;
  expect(await rotateAndReseal(other, { actor: ACTOR, rest })).toMatchObject({ finished: true, dropped: 1 });
  await write(store, owner, passports);

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
  await write(store, owner, passports);
  const rows = await store.read((q) => q.db.select().from(q.t.passports), null);
  expect(() => rows.map((row) => openPassport(store, row))).toThrow(/altered, or copied/);
});
