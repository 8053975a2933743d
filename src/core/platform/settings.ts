import type { Read, Tx } from "../store/store.ts";
import { storedValue, storeValue } from "../store/stored-value.ts";

/**
 * What an installation remembers of how it was last served: its addresses; `yes` or `no` to private webhooks and to the
 * refusal of EIDs with a wrong check digit; `insecure`: whether addresses without TLS are allowed; `cleartext`: whether
 * HTTP is answered beyond the host without an https public address; `inventory_sunset`, an ISO 8601 moment: when the
 * deprecated inventory endpoint ends, if that is announced; `sandbox_days`: how long sandbox orders are kept.
 */
export type SettingKey =
  | "public_url"
  | "docs_url"
  | "allow_private_webhooks"
  | "strict_eid"
  | "insecure"
  | "cleartext"
  | "inventory_sunset"
  | "sandbox_days";

/** A setting's value, or null when it was never written. */
export function readSetting(q: Read, key: SettingKey): Promise<string | null> {
  return storedValue(q, key);
}

/** Writes settings; null forgets one, the ones not named stay. */
export async function writeSettings(tx: Tx, values: Partial<Record<SettingKey, string | null>>): Promise<void> {
  for (const [key, value] of Object.entries(values)) await storeValue(tx, key, value);
}

/** A setting that changed; null: not set. */
export interface SettingChange {
  setting: SettingKey;
  from: string | null;
  to: string | null;
}

/** Settings that other nodes may be serving with differ from those given. */
class SettingsDifferError extends Error {
  readonly code = "settings_differ";
  readonly hint =
    "Give this node the same settings, or change them for the platform with serve --take-over-settings " +
    "and restart the other nodes.";

  constructor(changes: readonly SettingChange[]) {
    const shown = (value: string | null) => (value === null ? "not set" : `"${value}"`);
    const words = changes.map(({ setting, from, to }) => `${setting} is ${shown(from)} and here ${shown(to)}`);
    super(`The platform is served with other settings: ${words.join("; ")}.`);
    this.name = "SettingsDifferError";
  }
}

/**
 * Makes the settings that a node starts with those of the platform; answers those that changed. The first node writes
 * them. Later ones change them only with `takeOver`. Throws `SettingsDifferError`.
 */
export async function adoptSettings(
  tx: Tx,
  { values, takeOver }: { values: Record<SettingKey, string | null>; takeOver: boolean },
): Promise<SettingChange[]> {
  const changes: SettingChange[] = [];
  const served = (await readSetting(tx, "public_url")) !== null;
  // The keys are those of the type, and no others.
  for (const [setting, to] of Object.entries(values) as [SettingKey, string | null][]) {
    const from = await readSetting(tx, setting);
    // Only this one may be unset on a platform that was served; others are missing where an older program served it.
    const known = served && (from !== null || setting === "inventory_sunset");
    if (known && from !== to) changes.push({ setting, from, to });
  }
  if (changes.length > 0 && !takeOver) throw new SettingsDifferError(changes);
  await writeSettings(tx, values);
  return changes;
}
