import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { digest, migrationsOf } from "../src/core/store/migrations/migrate.ts";

const released: Record<string, Record<string, string>> = JSON.parse(
  readFileSync(new URL("released-migrations.json", import.meta.url), "utf8"),
);

// A database that ran a migration refuses a build in which it differs.
for (const engine of ["sqlite", "postgres"] as const) {
  test(`each released migration of ${engine} is as it was released`, () => {
    const built = Object.fromEntries(migrationsOf(engine).map((migration) => [migration.name, digest(migration)]));
    const hint = "a released migration never changes; `npm run migration` records the digest of a new one";
    expect(built, hint).toEqual(released[engine]);
  });
}
