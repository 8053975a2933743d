import { createCipheriv, randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { migrationsOf } from "../../src/core/store/migrations/migrate.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { testClock } from "./clock.ts";
import { asBefore, freshLocation, onPostgres } from "./store.ts";

/** A database as it was before a migration, with `count` passports. */
export async function earlierDatabase(count: number, before = "0011") {
  const location = await freshLocation();
  const [masterKey, secret] = [randomBytes(32), randomBytes(32)];
  const keyId = crypto.randomUUID();
  const plain = (id: string) => JSON.stringify({ passport_no: `NO-${id}` });
  const values = new Map<string, string>();
  const sealed = (id: string) => {
    const known = values.get(id) ?? `v1.${keyId}.${gcm(secret, Buffer.from(plain(id)), keyId)}`;
    values.set(id, known);
    return known;
  };
  const key = (purpose: string, id: string, wrapped: Buffer) =>
    `INSERT INTO data_keys (id, purpose, wrapped, created_at)
      VALUES ('${id}', '${purpose}', '${gcm(masterKey, wrapped, id)}', 0)`;
  const ids = Array.from({ length: count }, (_, at) => `id-${at}`);
  const codes = [
    { smdp_address: "old-0.example", matching_id: 'O"0', confirmation_code: "0731" },
    { smdp_address: "old-1.example", matching_id: "O-1", confirmation_code: null },
  ];
  const text = (value: string | null) => (value === null ? "NULL" : `'${value}'`);
  // Only those guards and fills that such a database had.
  const had = (name: string) => name < before || (name > "9" && name < "9007");
  const earlier = migrationsOf(onPostgres ? "postgres" : "sqlite").filter(({ name }) => had(name));
  await asBefore(location, earlier, [
    "INSERT INTO settings VALUES ('epoch', '1')",
    key("field", keyId, secret),
    key("index", crypto.randomUUID(), randomBytes(32)),
    key("link", crypto.randomUUID(), randomBytes(32)),
    `INSERT INTO partners (id, slug, name, status, tier, agent, production, created_at, updated_at)
      VALUES ('p', 'p', 'P', 'active', 'standard', 0, 1, 0, 0)`,
    `INSERT INTO products (id, sku, name, region, coverage, data_amount_mb, validity_days, price_cents, currency, type,
      status, product_type, delivery_method, created_at, updated_at) VALUES ('x', 'X', 'X', 'Europe', '[]', 1, 1, 1,
      'AUD', 'data_only', 'active', 'esim_qr_pregen', 'stock', 0, 0)`,
    "INSERT INTO stock_pools VALUES ('x', 2)",
    ...(before === "0011" ? codes : []).map(
      ({ smdp_address, matching_id, confirmation_code }, at) =>
        `INSERT INTO esims (id, iccid, product_id, smdp_address, matching_id, confirmation_code, status, created_at)
          VALUES ('esim-${at}', '${at}', 'x', '${smdp_address}', '${matching_id}', ${text(confirmation_code)},
          'inactive', 0)`,
    ),
    ...ids.map(
      (id) =>
        `INSERT INTO passports (id, partner_id, environment, first_name, last_name, passport_country, passport_expiry,
          sealed, number_index, verification, onshore, drawable, use_count, pool_key, created_at, updated_at)
          VALUES ('${id}', 'p', 'production', 'A', 'B', 'GBR', '2034-01-01', '${sealed(id)}', '${id}', 'pending',
          0, 0, 0, '', 0, 0)`,
    ),
  ]);
  return { location, masterKey, plain, sealed, codes, fieldKey: () => key("field", keyId, secret) };
}

/** Opens it with this version. */
export function openEarlier({ location, masterKey }: Awaited<ReturnType<typeof earlierDatabase>>) {
  return openStore(location, { clock: testClock(), ids: randomIds(), masterKey }).then((store) => {
    onTestFinished(() => store.close());
    return store;
  });
}

/** AES-256-GCM as the program of that version wrote it: nonce, tag and ciphertext, base64url. */
function gcm(key: Buffer, plain: Buffer, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
}
