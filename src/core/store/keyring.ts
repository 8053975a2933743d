import { eq } from "drizzle-orm";
import { loadDataKeys } from "./data-keys.ts";
import type { Writer } from "./group-commit.ts";
import { first, statement } from "./statement.ts";
import type { Read } from "./store.ts";
import type { Vault } from "./vault.ts";

const storedEpoch = statement((db, t, _slot) =>
  db.select({ value: t.settings.value }).from(t.settings).where(eq(t.settings.key, "epoch")),
);

/** Keeps a vault's keys those of the database. */
export interface Keyring {
  /** The epoch whose keys the vault holds; -1 before the first. */
  epoch(): number;
  /** Takes over the keys that `q` sees, if they are newer. Throws `StoreError` when the key file is another one. */
  refresh(q: Read): Promise<void>;
}

/** The keyring of one process's vault. */
export function keyring(vault: Vault, masterKey: Buffer): Keyring {
  let held = -1;
  return {
    epoch: () => held,
    async refresh(q) {
      const seen = Number(first(await storedEpoch(q, {}))?.value ?? 0);
      if (seen <= held) return;
      const keys = await loadDataKeys(q, masterKey);
      // Meanwhile a transaction may have brought newer ones than this snapshot has.
      if (seen <= held) return;
      vault.reload(keys);
      held = seen;
    },
  };
}

/**
 * The writer whose transactions begin with the keys of the database: nothing is ever sealed under a key that another
 * process has retired before, so a key under which nothing is sealed any more stays so.
 */
export function withCurrentKeys(writer: Writer, keys: Keyring): Writer {
  return {
    ...writer,
    async begin() {
      await writer.begin();
      await keys.refresh(writer.tx(() => undefined, null));
    },
  };
}
