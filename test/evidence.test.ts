import { createHash, createPublicKey, verify } from "node:crypto";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ExportedLine, exportEvidence } from "../src/core/evidence/export.ts";
import { grownChains } from "../src/core/evidence/sign.ts";
import { type ChainCheck, verifyChains } from "../src/core/evidence/verify.ts";
import type { PartnerId } from "../src/core/kernel/brand.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { resumePartner, suspendPartner } from "../src/core/partners/suspend.ts";
import { auditLink, linkHash } from "../src/core/store/sealing/chain.ts";
import type { Store, Tx } from "../src/core/store/store.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { signGrownHeads } from "../src/daemon/workers/cron.ts";
import { testClock } from "./support/clock.ts";
import { onPostgres, openTestStore, rewind, runStatements } from "./support/store.ts";

const actor = "operator (test)";
const START = "2026-03-02T01:00:00.000Z";
const DAY = 86_400_000;

const TRIGGERS = ["ledger_transactions", "ledger_postings", "audit_entries", "signed_heads"].flatMap((table) =>
  ["update", "delete"].map((verb) => ({ table, name: `${table}_no_${verb}` })),
);

const dropTriggers = TRIGGERS.map(({ table, name }) => `DROP TRIGGER ${name}${onPostgres ? ` ON ${table}` : ""}`);

async function run(tx: Tx, statement: string): Promise<void> {
  await Reflect.get(tx.db, onPostgres ? "execute" : "run").call(tx.db, sql.raw(statement));
}

/** Two partners with money in two currencies, and a day's signatures over half of it. */
async function installation() {
  const clock = testClock(START);
  const opened = await openTestStore(clock);
  const { store } = opened;
  const partners: PartnerId[] = [];
  for (const slug of ["acme", "beta"]) {
    partners.push((await store.write(createPartner, { slug, name: slug, production: true, actor })).id);
  }
  const [acme, beta] = partners as [PartnerId, PartnerId];
  const move = (command: typeof creditWallet, partnerId: PartnerId, amount: number, currency = "AUD") =>
    store.write(command, { partnerId, amount: minorUnits(amount), currency, reference: "R", again: true, actor });
  const sign = () => signGrownHeads({ store }, new AbortController().signal);
  const check = () => store.read(verifyChains, { keyed: true });
  return { ...opened, clock, acme, beta, move, sign, check };
}

async function busyInstallation() {
  const made = await installation();
  const { acme, beta, move, sign, clock, store } = made;
  await move(creditWallet, acme, 5_000);
  await move(creditWallet, acme, 70, "JPY");
  await move(creditWallet, beta, 900);
  await store.write(suspendPartner, { slug: "beta", actor });
  await sign();
  clock.advance(DAY);
  await move(debitWallet, acme, 300);
  await move(creditWallet, acme, 10);
  await store.write(resumePartner, { slug: "beta", actor });
  await sign();
  clock.advance(DAY);
  await move(debitWallet, beta, 1);
  await move(debitWallet, acme, 2);
  return made;
}

describe("untouched evidence", () => {
  test("passes, from the first row on, and the signing is daily and idempotent", async () => {
    const { acme, move, sign, check, clock, store } = await installation();
    expect(await check()).toMatchObject({ ok: true, rows: 2, chains: 1, signatures: 0, faults: [] });
    await move(creditWallet, acme, 100);
    expect(await check()).toMatchObject({ ok: true, rows: 4, chains: 3 });
    expect([await sign(), await sign()]).toEqual([3, 0]);
    await move(creditWallet, acme, 100);
    expect(await sign(), "once a day").toBe(0);
    clock.advance(DAY);
    expect([await sign(), await sign()]).toEqual([2, 0]);
    clock.advance(3 * DAY);
    expect(await sign(), "nothing has grown").toBe(0);
    expect(await store.read(grownChains, null)).toEqual([]);
    expect(await check()).toMatchObject({ ok: true, signatures: 5 });
  });

  test("stays valid under concurrent writers", async () => {
    const { acme, beta, again, check } = await installation();
    const stores = [await again(), await again()];
    const acts = Array.from({ length: 60 }, (_, at) => {
      const partnerId = at % 3 === 0 ? beta : acme;
      const input = { partnerId, amount: minorUnits(at + 1), currency: "AUD", actor };
      return (stores[at % 2] as Store).write(creditWallet, input);
    });
    await Promise.all(acts);
    expect(await check()).toMatchObject({ ok: true, rows: 2 + 120 });
  });

  test("of a version without chains is chained at the next start", async () => {
    const { location, again, check } = await busyInstallation();
    const before = await check();
    await runStatements(location, [
      ...dropTriggers,
      ...(onPostgres ? ["DROP FUNCTION refuse_evidence_change() CASCADE"] : []),
      "DELETE FROM signed_heads",
      "DELETE FROM chain_heads",
      "DELETE FROM settings WHERE key = 'chain_register'",
      "DELETE FROM audit_entries WHERE action = 'evidence.register'",
      "UPDATE audit_entries SET chain = NULL, chain_no = NULL, hash = NULL",
      "UPDATE ledger_transactions SET chain_no = NULL, hash = NULL",
      "UPDATE wallets SET chain_count = 0, chain_hash = NULL, chain_mark = NULL, signed_count = 0",
    ]);
    await rewind(location, "9005_evidence_chains", []);
    await rewind(location, "9006_evidence_guards", []);
    const store = await again();
    const after = await store.read(verifyChains, { keyed: true });
    expect(after).toMatchObject({ ok: true, rows: before.rows - 1, chains: before.chains, signatures: 0 });
    const changed = store.write(async (tx: Tx) => void (await tx.db.delete(tx.t.auditEntries)), null);
    await expect(changed).rejects.toThrow();
  });
});

/** A change by hand, as SQL; `n` picks among what there is. */
type Tamper = (tx: Tx, n: number) => Promise<void>;

const TABLES = { audit_entries: "chain_no", ledger_transactions: "chain_no" } as const;

async function pick(tx: Tx, table: keyof typeof TABLES, n: number) {
  const rows = await (table === "audit_entries"
    ? tx.db.select().from(tx.t.auditEntries).orderBy(tx.t.auditEntries.id)
    : tx.db.select().from(tx.t.ledgerTransactions).orderBy(tx.t.ledgerTransactions.id));
  const row = rows[n % rows.length];
  if (row === undefined) throw new Error("nothing to change");
  return { id: row.id, rows };
}

const altered = (table: keyof typeof TABLES, set: string): [string, Tamper] => [
  `${table}: ${set}`,
  async (tx, n) => run(tx, `UPDATE ${table} SET ${set} WHERE id = '${(await pick(tx, table, n)).id}'`),
];

const removed = (table: keyof typeof TABLES): [string, Tamper] => [
  `${table}: a row removed`,
  async (tx, n) => {
    const { id } = await pick(tx, table, n);
    if (table === "ledger_transactions") await run(tx, `DELETE FROM ledger_postings WHERE transaction_id = '${id}'`);
    await run(tx, `DELETE FROM ${table} WHERE id = '${id}'`);
  },
];

const swapped = (table: keyof typeof TABLES): [string, Tamper] => [
  `${table}: two rows of a chain in each other's place`,
  async (tx) => {
    const chain = table === "audit_entries" ? "chain = 'audit:platform'" : "kind = 'debit' OR kind = 'credit'";
    const place = (no: number) => `${table}.chain_no = ${no} AND (${chain})`;
    for (const [from, to] of [
      [1, 900],
      [2, 1],
      [900, 2],
    ] as const) {
      await run(tx, `UPDATE ${table} SET chain_no = ${to} WHERE ${place(from)}`);
    }
  },
];

const sqls = (name: string, ...statements: string[]): [string, Tamper] => [
  name,
  async (tx) => {
    for (const statement of statements) await run(tx, statement);
  },
];

const anEntry = "'new', 1772413200000, 'operator', 'partners.suspend', 'partner', 'x'";
const columns = "id, at, actor, action, target_kind, target_id";

/** A row that follows from the last as a program would write it, by someone without the key file. */
const forged: Tamper = async (tx) => {
  const chain = "audit:platform";
  const [head] = (await tx.db.select().from(tx.t.chainHeads)).filter((each) => each.chain === chain);
  const no = (head?.chain_count ?? 0) + 1;
  const content = {
    id: "new",
    at: 1_772_413_200_000,
    actor: "operator",
    action: "partners.suspend",
    target_kind: "partner",
    target_id: "x",
    partner_id: null,
    fields: null,
    changes: null,
    note: null,
    request_id: null,
  };
  const hash = linkHash(auditLink(content, { no, previous: head?.chain_hash ?? null }));
  await run(
    tx,
    `INSERT INTO audit_entries (${columns}, chain, chain_no, hash)
    VALUES (${anEntry}, '${chain}', ${no}, '${hash}')`,
  );
  await run(tx, `UPDATE chain_heads SET chain_count = ${no}, chain_hash = '${hash}' WHERE chain = '${chain}'`);
};

/** The last row of a chain removed, and the head made to agree. */
const truncated: Tamper = async (tx) => {
  const rows = (await tx.db.select().from(tx.t.ledgerTransactions)).filter((row) => row.currency === "AUD");
  const last = rows.sort((a, b) => (b.chain_no ?? 0) - (a.chain_no ?? 0))[0];
  const before = rows.find((row) => row.partner_id === last?.partner_id && row.chain_no === (last.chain_no ?? 0) - 1);
  await run(tx, `DELETE FROM ledger_postings WHERE transaction_id = '${last?.id}'`);
  await run(tx, `DELETE FROM ledger_transactions WHERE id = '${last?.id}'`);
  await run(
    tx,
    `UPDATE wallets SET chain_count = ${before?.chain_no}, chain_hash = '${before?.hash}'
    WHERE partner_id = '${last?.partner_id}' AND currency = 'AUD'`,
  );
};

/** All rows, heads and signatures of the chains of this form. */
function vanished(chains: string): string[] {
  const chain = "'wallet:' || partner_id || ':' || currency";
  const ofWallet = `SELECT id FROM ledger_transactions WHERE ${chain} LIKE '${chains}'`;
  return [
    `DELETE FROM ledger_postings WHERE transaction_id IN (${ofWallet})`,
    `DELETE FROM ledger_transactions WHERE id IN (${ofWallet})`,
    `DELETE FROM audit_entries WHERE chain LIKE '${chains}'`,
    `DELETE FROM chain_heads WHERE chain LIKE '${chains}'`,
    `DELETE FROM signed_heads WHERE chain LIKE '${chains}'`,
  ];
}

const walletGone = [...vanished("wallet:%:JPY"), "DELETE FROM wallets WHERE currency = 'JPY'"];

const tampers: [string, Tamper][] = [
  altered("audit_entries", "actor = 'another'"),
  altered("audit_entries", "at = at + 1"),
  altered("audit_entries", "action = 'wallet.nothing'"),
  altered("audit_entries", "target_id = 'x'"),
  altered("audit_entries", "note = 'x'"),
  altered("audit_entries", "fields = '[\"x\"]'"),
  altered("audit_entries", "request_id = 'x'"),
  altered("audit_entries", "hash = 'x'"),
  altered("audit_entries", "chain = 'audit:unknown'"),
  altered("audit_entries", "chain_no = chain_no + 100"),
  altered("audit_entries", "chain_no = NULL"),
  altered("ledger_transactions", "amount_cents = amount_cents + 1"),
  altered("ledger_transactions", "reference = 'x'"),
  altered("ledger_transactions", "order_id = 'x'"),
  altered("ledger_transactions", "created_at = created_at - 1"),
  altered("ledger_transactions", "currency = 'EUR'"),
  removed("audit_entries"),
  removed("ledger_transactions"),
  swapped("audit_entries"),
  [
    "a posting altered",
    async (tx, n) => {
      const { id } = await pick(tx, "ledger_transactions", n);
      await run(tx, `UPDATE ledger_postings SET amount_cents = amount_cents * 2 WHERE transaction_id = '${id}'`);
    },
  ],
  [
    "a posting added",
    async (tx, n) => {
      const { id } = await pick(tx, "ledger_transactions", n);
      await run(tx, `INSERT INTO ledger_postings VALUES ('${id}', 'house:other', 'AUD', 0)`);
    },
  ],
  [
    "a posting removed",
    async (tx, n) => {
      const { id } = await pick(tx, "ledger_transactions", n);
      await run(tx, `DELETE FROM ledger_postings WHERE transaction_id = '${id}' AND account LIKE 'house:%'`);
    },
  ],
  sqls("an entry without a chain", `INSERT INTO audit_entries (${columns}) VALUES (${anEntry})`),
  sqls(
    "an entry in the chain",
    `INSERT INTO audit_entries (${columns}, chain, chain_no, hash)
    VALUES (${anEntry}, 'audit:platform', 99, 'x')`,
  ),
  ["an entry that follows from the last", forged],
  ["the end of a chain cut off", truncated],
  sqls("a head that counts less", "UPDATE chain_heads SET chain_count = chain_count - 1"),
  sqls("a head removed", "DELETE FROM chain_heads WHERE chain = 'audit:platform'"),
  sqls("a head without a mark", "UPDATE wallets SET chain_mark = NULL"),
  sqls("a signature altered", "UPDATE signed_heads SET signed_at = signed_at + 1"),
  sqls("a signature of another hash", "UPDATE signed_heads SET hash = 'x' WHERE chain = 'audit:platform'"),
  sqls("the first signatures removed", "DELETE FROM signed_heads WHERE previous_count = 0"),
  sqls("all signatures removed", "DELETE FROM signed_heads"),
  sqls("a signature added", "INSERT INTO signed_heads VALUES ('audit:platform', 99, 'x', 0, 0, 'x', 'x')"),
  sqls("a wallet's chain gone with its signatures", ...walletGone),
  sqls("a partner's trail gone with its signatures", ...vanished("audit:0%")),
  sqls("the platform's trail gone, and the register", ...vanished("audit:platform"), "DELETE FROM settings"),
  sqls("the register removed", "DELETE FROM settings WHERE key = 'chain_register'"),
  sqls("the register written by hand", ...walletGone, `UPDATE settings SET value = replace(value, ':5,', ':4,')`),
  sqls("the signing key replaced", "UPDATE signing_keys SET public_jwk = '{}'"),
];

describe("evidence that was changed by hand", () => {
  test("is found for every kind of change", async () => {
    const { store, check } = await busyInstallation();
    const untouched = await check();
    expect(untouched).toMatchObject({ ok: true, faults: [] });
    const found = (tamper: Tamper, n: number): Promise<ChainCheck> =>
      store.rehearse(async (tx: Tx) => {
        for (const statement of dropTriggers) await run(tx, statement);
        await tamper(tx, n);
        return verifyChains(tx, { keyed: true });
      }, null);
    for (const [name, tamper] of tampers) {
      const { ok, faults } = await found(tamper, 0);
      expect({ name, ok, faults: faults.length > 0 }).toEqual({ name, ok: false, faults: true });
    }
    const any = fc.tuple(fc.constantFrom(...tampers), fc.nat(50));
    await fc.assert(
      fc.asyncProperty(any, async ([[name, tamper], n]) => {
        expect({ name, ok: (await found(tamper, n)).ok }).toEqual({ name, ok: false });
      }),
      { numRuns: onPostgres ? 25 : 60 },
    );
    expect(await check()).toEqual(untouched);
  });
});

describe("the database itself refuses", () => {
  const tables = [
    ["audit_entries", "note"],
    ["ledger_transactions", "reference"],
    ["ledger_postings", "account"],
    ["signed_heads", "hash"],
  ];

  test("to change or delete rows of evidence", async () => {
    const { store, check } = await busyInstallation();
    for (const [table, column] of tables) {
      const changes = [`UPDATE ${table} SET ${column} = ${column}`, `DELETE FROM ${table}`];
      for (const change of onPostgres ? [...changes, `TRUNCATE ${table} CASCADE`] : changes) {
        await expect(
          store.write((tx: Tx) => run(tx, change), null),
          change,
        ).rejects.toThrow();
      }
    }
    expect(await check()).toMatchObject({ ok: true });
  });
});

async function all(lines: AsyncIterable<ExportedLine>): Promise<ExportedLine[]> {
  const collected: ExportedLine[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

describe("an export", () => {
  test("can be verified without the program: hashes, places and signatures", async () => {
    const { store } = await busyInstallation();
    const lines = await all(exportEvidence(store, { since: 0 }));
    const of = (kind: string) => lines.filter((line) => line.kind === kind).map((line) => JSON.parse(line.text));
    const canonical = (value: object) => JSON.stringify(Object.fromEntries(Object.entries(value).sort()));
    const last = new Map<string, { no: number; hash: string }>();
    const hashes = new Map<string, string>();
    for (const { kind, text } of lines) {
      if (kind !== "row") continue;
      const { hash, row } = JSON.parse(text);
      expect(
        createHash("sha256")
          .update(text.slice(text.indexOf('"row":') + 6, -1))
          .digest("hex"),
      ).toBe(hash);
      const before = last.get(row.chain);
      expect([row.no, row.previous]).toEqual([(before?.no ?? 0) + 1, before?.hash ?? null]);
      last.set(row.chain, { no: row.no, hash });
      hashes.set(`${row.chain} ${row.no}`, hash);
    }
    expect(of("row")).toHaveLength((await store.read(verifyChains, { keyed: true })).rows);
    const [{ key }] = of("key");
    const publicKey = createPublicKey({ key, format: "jwk" });
    for (const { head, kid, signature } of of("head")) {
      expect(kid).toBe(key.kid);
      expect(hashes.get(`${head.chain} ${head.count}`)).toBe(head.hash);
      expect(verify(null, Buffer.from(canonical(head)), publicKey, Buffer.from(signature, "base64url"))).toBe(true);
    }
    // Every row is covered: the heads were signed as they are.
    for (const [chain, { no }] of last) {
      expect(of("head").some(({ head }) => head.chain === chain && head.count === no)).toBe(true);
    }
  });

  test("from a given time begins each chain there, and continues from the row before", async () => {
    const { store, acme, clock } = await busyInstallation();
    const whole = await all(exportEvidence(store, { since: 0 }));
    const late = await all(exportEvidence(store, { since: clock.now() }));
    const rows = late.filter(({ kind }) => kind === "row").map(({ text }) => text);
    expect(rows.map((text) => JSON.parse(text).row).filter(({ chain }) => chain.startsWith("wallet:"))).toMatchObject([
      { chain: `wallet:${acme}:AUD`, kind: "debit", amount_cents: 2, no: 4 },
      { kind: "debit", amount_cents: 1, no: 2 },
    ]);
    for (const text of rows) expect(whole.map((line) => line.text)).toContain(text);
  });
});
