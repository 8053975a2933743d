import { canonicalText } from "../kernel/canonical.ts";
import type { StoredHead } from "../store/sealing/chain.ts";
import { allHeads } from "../store/sealing/chain.ts";
import type { Store } from "../store/store.ts";
import { firstRowSince, rowsOfChain } from "./rows.ts";
import { grownChains, signHeads } from "./sign.ts";
import { publicJwks, signaturesOf, textOf } from "./signatures.ts";

/** Chains signed by one transaction. */
const SIGNED_AT_ONCE = 100;

/** One line of an export, and what it is. */
export interface ExportedLine {
  kind: "row" | "head" | "key";
  text: string;
}

/**
 * Signs the heads that have grown, then yields every chain's rows from `since` (ms) on, one line each, the signatures
 * of their heads, and the public keys to verify them with. In pages: memory does not grow with the rows. Rows that are
 * written meanwhile are left out.
 */
export async function* exportEvidence(store: Store, { since }: { since: number }): AsyncGenerator<ExportedLine> {
  await signAll(store);
  const begun: { head: StoredHead; from: number }[] = [];
  for (const head of await store.read((q) => allHeads(q), null)) {
    const from = await store.read(firstRowSince, { chain: head.chain, since });
    if (from !== null) begun.push({ head, from });
  }
  for (const { head, from } of begun) yield* rowLines(store, head, from);
  for (const { head, from } of begun) {
    for (const signed of await store.read(signaturesOf, head.chain)) {
      // The one before the first row too: what was exported earlier ends there.
      if (signed.count < from - 1 || signed.count > head.count) continue;
      const { kid, signature } = signed;
      yield { kind: "head", text: `{"head":${textOf(signed)},"kid":"${kid}","signature":"${signature}"}` };
    }
  }
  for (const [kid, { kty, crv, x }] of await store.read((q) => publicJwks(q), null)) {
    yield { kind: "key", text: canonicalText({ key: { kid, kty, crv, x } }) };
  }
}

async function signAll(store: Store): Promise<void> {
  const grown = await store.read(grownChains, null);
  for (let at = 0; at < grown.length; at += SIGNED_AT_ONCE) {
    await store.write(signHeads, { chains: grown.slice(at, at + SIGNED_AT_ONCE), when: "now" });
  }
}

async function* rowLines(store: Store, { chain, count: upTo }: StoredHead, from: number): AsyncGenerator<ExportedLine> {
  // The row before gives the hash that the first one continues from.
  const before = await store.read(rowsOfChain, { chain, after: from - 2, upTo: from - 1 });
  let previous = before[0]?.hash ?? null;
  for (let after = from - 1; after < upTo; ) {
    const rows = await store.read(rowsOfChain, { chain, after, upTo });
    for (const row of rows) {
      yield {
        kind: "row",
        text: `{"hash":"${row.hash}","row":${canonicalText(row.linkAt({ no: row.no, previous }))}}`,
      };
      previous = row.hash;
      after = row.no;
    }
    if (rows.length === 0) return;
  }
}
